import Plan
import Quantities

extension CompressorSettings: Described {
    static let definition = Definition<CompressorSettings>(
        base: CompressorSettings(),
        fields: [
            Field(
                "codec", \.codec, .choice("codec", "codecs"),
                "How the sizes of compressed contents come about. `model`: they are drawn, the same on both backends. "
                    + "`lz4`: LZ4 compresses real contents, with `backend: jemalloc` and without a scale."),
            Field(
                "contents", \.contents, .choice("kind of contents", "kinds of contents"),
                "With `codec: lz4`: what the pages that compress contain. `head`: random bytes, then zeros, which has "
                    + "any ratio. `words`: random words among sixteen others, at most 2.67 times smaller."),
            Field(
                "compress_rate", \.compressRate, .scaled(from: .slowest), drawn: .rates(.mebibytes(8), .gibibytes(8)),
                "How fast a fast core compresses pages."),
            Field(
                "decompress_rate", \.decompressRate, .scaled(from: .slowest),
                drawn: .rates(.mebibytes(8), .gibibytes(8)),
                "How fast a fast core decompresses pages. The main thread that uses them pays for it."),
            Field(
                "page_out_rate", \.pageOutRate, Codec.scaled(from: .slowest).orNone(),
                drawn: .rates(.mebibytes(8), .gibibytes(8)),
                "How fast a fast core takes pages from their processes, whatever they contain: 4KiB over the time per "
                    + "page. A page of one repeated word then costs nothing else. None: only `compress_rate` counts, "
                    + "for every page."),
            Field(
                "page_in_rate", \.pageInRate, Codec.scaled(from: .slowest).orNone(),
                drawn: .rates(.mebibytes(8), .gibibytes(8)),
                "The same for pages that come back, beside `decompress_rate`."),
            Field(
                "keep_free", \.keepFree, Codec<Ratio>.quantity(to: .percent(90)).orNone("watermarks"),
                drawn: .shares(0, 60),
                "The compressor works while less than this share of the RAM is available. It has no effect with "
                    + "`device.kernel`. `watermarks`, the default where the compressor is zram: between those of "
                    + "Linux's kswapd; 21% with `reclaim: background`."),
            Field(
                "resume_share", \.resumeShare, .quantity(to: .one),
                "The share of its compressed pages that a process brings back when it is resumed."),
            Field("pool", \.pool, .quantity(to: .one), "The most that the pool takes, as a share of the RAM."),
            Field(
                "input", \.input, .quantity(to: .percent(400)),
                "The most that may be compressed at once, as a share of the RAM, measured before compression."),
            Field(
                "threads", \.threads, .count(0...CompressorSettings.mostThreads),
                drawn: .numbers(1, CompressorSettings.mostThreads),
                "How many batches are compressed at once, each on a core of its own if one is free. 0, with "
                    + "`reclaim: linux`: only processes that find no page compress, as at a memory group's limit."),
        ])
}

extension Compressibility: Described {
    static let definition = Definition<Compressibility>(
        base: .typical,
        fields: [
            Field(
                "ratio", \.ratio, .quantity(from: .one, to: .percent(6_400)),
                "How many times smaller those pages become that do compress, on average."),
            Field(
                "repeated", \.repeated, .quantity(to: .one),
                "The share of pages that are one repeated word: they take no room."),
            Field("incompressible", \.incompressible, .quantity(to: .one), "The share of pages that do not compress."),
        ])
}

extension SwapSettings: Described {
    static let definition = Definition<SwapSettings>(
        base: SwapSettings(),
        fields: [
            Field(
                "zram", \.zram, Codec<Bool>.flag.mapped({ Optional($0) }, { $0 ?? false }),
                "The compressor is the zram of Linux: `compressor.input` is the size of this swap device, and each "
                    + "page that is compressed takes a slot of it. Left out: true on a device with a compressor that "
                    + "is neither Apple's by name nor has a `kernel`."),
            Field(
                "disk", \.disk, .scaled(), drawn: .sizes(.mebibytes(1), .gibibytes(1)),
                "Swap on a disk, in bytes of pages, for what a full compressor has no room for. 0B: there is none. "
                    + "Needs `codec: model`."),
            Field(
                "disk_takes", \.diskTakes, .choice("kind of pages", "kinds of pages"),
                "What the disk takes when the compressor is full. `oldest`: the compressor's oldest contents, as the "
                    + "writeback of zram and zswap does. `newest`: what is to be swapped next, as a swap device of "
                    + "lower priority than zram does."),
            Field(
                "write_rate", \.writeRate, .scaled(from: .slowest), drawn: .rates(.mebibytes(8), .gibibytes(2)),
                "How fast the disk takes pages. The default is a guess."),
            Field(
                "read_rate", \.readRate, .scaled(from: .slowest), drawn: .rates(.mebibytes(8), .gibibytes(2)),
                "How fast the disk gives pages back. The main thread that uses them waits. The default is a guess."),
            Field(
                "search_time", \.searchTime, .quantity(to: .milliseconds(1)),
                "With `reclaim: linux`: what finding a page of 4KiB costs kswapd and a process that makes room itself, "
                    + "beside compressing it. The default is fitted to one fill at a memory group's limit, an "
                    + "assumption."),
            Field(
                "extra_free", \.extraFree, .scaled(), drawn: .sizes(.zero, .mebibytes(8)),
                "With `reclaim: linux`: how far above Linux's own watermarks kswapd begins and ends. Android has three "
                    + "screens of pixels, 30375KiB for 1080 by 2400. A Pixel by name has this with its compressor."),
            Field(
                "compact_after", \.compactAfter, Codec<TimeSpan>.quantity(to: .hours(1)).orNone("never"),
                "How long a process of at least 12000KiB is suspended until all its pages are compressed, as Android "
                    + "compacts what it freezes; not while less than 20% of swap is free. A Pixel by name has 10s with "
                    + "its compressor, a guess."),
        ])
}
