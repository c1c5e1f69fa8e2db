/// Small OOM reports, made up for these tests: one for each layout of the table and each kind of log.
enum KernelFixtures {
    /// Linux 3.2: neither page tables nor swap.
    static let oldest = """
        [ 77.100001] eater invoked oom-killer: gfp_mask=0x280da, order=0, oom_adj=0, oom_score_adj=0
        [ 77.100002] Pid: 40, comm: eater Not tainted 3.2.0-4-amd64 #1 Debian 3.2.41
        [ 77.100003] Free swap  = 0kB
        [ 77.100003] Total swap = 0kB
        [ 77.100004] 101000 pages RAM
        [ 77.100005] 1000 pages reserved
        [ 77.100006] [ pid ]   uid  tgid total_vm      rss cpu oom_adj oom_score_adj name
        [ 77.100007] [   10]     0    10     4000      100   0     -17         -1000 udevd
        [ 77.100008] [   20]  1000    20    30000    20000   1       0             0 editor
        [ 77.100009] [   40]  1000    40    90000    70000   0       0             0 eater
        [ 77.100010] Out of memory: Kill process 40 (eater) score 700 or sacrifice child
        [ 77.100011] Killed process 40 (eater) total-vm:360000kB, anon-rss:279000kB, file-rss:1000kB
        """

    /// Linux 3.10 in a memory group of version 1, in syslog.
    static let group = """
        Mar  3 04:05:06 box kernel: [900.1] worker invoked oom-killer: gfp_mask=0xd0, order=0, oom_score_adj=0
        Mar  3 04:05:06 box kernel: [900.1] CPU: 1 PID: 301 Comm: worker Not tainted 3.10.0-957.el7.x86_64 #1
        Mar  3 04:05:06 box kernel: [900.2] Task in /jobs/a killed as a result of limit of /jobs
        Mar  3 04:05:06 box kernel: [900.2] memory: usage 40000kB, limit 40000kB, failcnt 12
        Mar  3 04:05:06 box kernel: [900.2] memory+swap: usage 0kB, limit 9007199254740988kB, failcnt 0
        Mar  3 04:05:06 box kernel: [900.3] [ pid ]   uid  tgid total_vm      rss nr_ptes swapents oom_score_adj name
        Mar  3 04:05:06 box kernel: [900.3] [  300]   500   300     4000     1000      10        0             0 sh
        Mar  3 04:05:06 box kernel: [900.3] [  301]   500   301    20000     8000      40        0             0 worker
        Mar  3 04:05:06 box kernel: [900.4] Memory cgroup out of memory: Kill process 301 (worker) score 804 or \
        sacrifice child
        Mar  3 04:05:06 box kernel: [900.4] Killed process 301 (worker) total-vm:80000kB, anon-rss:32000kB, file-rss:0kB
        """

    /// Linux 4.4, without a prefix and without the beginning.
    static let middle = """
        Task in /lim killed as a result of limit of /lim
        memory: usage 102400kB, limit 102400kB, failcnt 3
        [ pid ]   uid  tgid total_vm      rss nr_ptes nr_pmds swapents oom_score_adj name
        [  700]  1000   700     1900      200       9       3        0             0 sh
        [  701]  1000   701   130000    20000      60       3      500             0 stress
        Memory cgroup out of memory: Kill process 701 (stress) score 803 or sacrifice child
        Killed process 701 (stress) total-vm:520000kB, anon-rss:80000kB, file-rss:0kB
        """

    /// Linux 4.19 in a journal, with a line of another subsystem in the table.
    static let narrow = """
        Mar 03 04:05:06 box kernel: db invoked oom-killer: gfp_mask=0x6200ca(GFP_HIGHUSER_MOVABLE), order=0, \
        oom_score_adj=0
        Mar 03 04:05:06 box kernel: CPU: 0 PID: 811 Comm: db Tainted: G        W         4.19.0-18-amd64 #1 Debian
        Mar 03 04:05:06 box kernel: 51200 pages RAM
        Mar 03 04:05:06 box kernel: 1200 pages reserved
        Mar 03 04:05:06 box kernel: Total swap = 40000kB
        Mar 03 04:05:06 box kernel: [ pid ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name
        Mar 03 04:05:06 box kernel: [  810]     0   810     9000      300    81920       10          -900 sshd
        Mar 03 04:05:06 box kernel: eth0: Link is Up - 1Gbps/Full - flow control rx/tx
        Mar 03 04:05:06 box kernel: [  811]   999   811    60000    30000   409600     5000             0 db
        Mar 03 04:05:06 box kernel: [  812]  1000   812     6000     2000    40960        0           300 0anacron
        Mar 03 04:05:06 box kernel: Out of memory: Kill process 811 (db) score 585 or sacrifice child
        Mar 03 04:05:06 box kernel: Killed process 811 (db) total-vm:240000kB, anon-rss:120000kB, file-rss:0kB, \
        shmem-rss:0kB
        """

    /// Linux 5.15, `dmesg -T`, Windows line ends, a name with brackets, two equal processes at the end.
    static let wide = [
        "Web Content invoked oom-killer: gfp_mask=0x140dca(GFP_HIGHUSER_MOVABLE|__GFP_ZERO), "
            + "order=0, oom_score_adj=0",
        "CPU: 2 PID: 950 Comm: Web Content Not tainted 5.15.0-91-generic #101-Ubuntu",
        "Mem-Info:",
        "active_anon:20000 inactive_anon:30000 isolated_anon:0",
        " active_file:100 inactive_file:200 isolated_file:0",
        " slab_reclaimable:500 slab_unreclaimable:9000",
        " mapped:100 shmem:12000 pagetables:300 bounce:0",
        " free:1500 free_pcp:0 free_cma:0",
        "Node 0 active_anon:80000kB inactive_anon:120000kB kernel_stack:2000kB",
        "Node 0 DMA32 free:6000kB min:6400kB low:8000kB high:9600kB present:300000kB",
        "lowmem_reserve[]: 0 0 0 0 0",
        "Node 0 hugepages_total=8 hugepages_free=8 hugepages_surp=0 hugepages_size=2048kB",
        "Free swap  = 0kB",
        "Total swap = 40000kB",
        "75000 pages RAM",
        "5000 pages reserved",
        "Tasks state (memory values in pages):",
        "[  pid  ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name",
        "[    900]     0   900     8000      400    81920      100         -1000 systemd-udevd",
        "[    940]  1000   940    50000    20000   409600     4000             0 (sd-pam)",
        "[    950]  1000   950    50000    20000   409600     4000             0 Web Content",
        "oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,"
            + "global_oom,task_memcg=/user.slice,task=Web Content,pid=950,uid=1000",
        "Out of memory: Killed process 950 (Web Content) total-vm:200000kB, "
            + "anon-rss:80000kB, file-rss:0kB, shmem-rss:0kB, UID:1000 pgtables:400kB oom_score_adj:0",
    ].map { $0.hasPrefix(" ") ? $0 : "[Tue Mar  3 04:05:06 2026] " + $0 }.joined(separator: "\r\n")

    /// Linux 6.12 with the parts of `rss`, in a group of version 2; the victim's line is cut.
    static let newest = """
        <4>[12.5][  T77] php invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0
        <4>[12.5][  T77] CPU: 0 UID: 33 PID: 77 Comm: php Not tainted 6.12.9-amd64 #1  Debian 6.12.9-1
        <4>[12.5][  T77] memory: usage 40000kB, limit 40000kB, failcnt 9
        <4>[12.5][  T77] swap: usage 0kB, limit 0kB, failcnt 0
        <4>[12.5][  T77] Memory cgroup stats for /web:
        <4>[12.5][  T77] anon 12000000
        <4>[12.5][  T77] file 26000000
        <4>[12.5][  T77] shmem 20000000
        <4>[12.5][  T77] Tasks state (memory values in pages):
        <4>[12.5][  T77] [  pid  ]   uid  tgid total_vm      rss rss_anon rss_file rss_shmem pgtables_bytes swapents \
        oom_score_adj name
        <4>[12.5][  T77] [     70]    33    70     9000     1500     1000      500         0    81920        0         \
        300 php
        <4>[12.5][  T77] [     77]    33    77    20000     3000     2000      500       500   163840        0   0 php
        <4>[12.5][  T77] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/web,\
        task_memcg=/web,task=php,pid=70,uid=33
        """

    static let all = [oldest, group, middle, narrow, wide, newest]
}
