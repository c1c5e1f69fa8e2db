"""Many workers on one study in a real PostgreSQL server, one of them killed in mid-trial.

The server is started here, on a socket in a folder of its own, and runs as a user without rights where we are root (it
refuses root). Without a server on this machine the tests are skipped, and say so: `apt-get install postgresql`.
"""

from __future__ import annotations

import contextlib
import csv
import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import optuna
from harness import FAKE, FolderCase, program_of
from optuna.trial import TrialState

from plimsoll_tools.tuning.board import open_storage

TRIALS, HELD_OUT = 16, 6
WAIT_S = 240


def server_folder() -> Path | None:
    """Where initdb and postgres are: Debian keeps them off PATH."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    on_path = shutil.which("initdb")
    candidates = [path.parent for path in found[::-1]] + ([Path(on_path).parent] if on_path else [])
    return next((folder for folder in candidates if (folder / "postgres").exists()), None)


def server_user() -> str | None:
    """The user the server runs as: this one, or one without rights if this is root."""
    if os.geteuid() != 0:
        return pwd.getpwuid(os.geteuid()).pw_name
    names = {entry.pw_name for entry in pwd.getpwall()}
    return next((name for name in ("postgres", "nobody") if name in names), None)


SERVER, USER = server_folder(), server_user()


class Postgres:
    """A server on a socket in a temporary folder.

    With an address it also listens there, for a host of a network namespace; `prefix` starts it in the namespace.
    """

    def __init__(self, address: str = "", prefix: tuple[str, ...] = ()) -> None:
        assert SERVER and USER
        self.programs = SERVER
        self.folder = Path(tempfile.mkdtemp(prefix="plimsoll-postgres.", dir="/tmp"))
        if os.geteuid() == 0:
            shutil.chown(self.folder, USER)
        data = self.folder / "data"
        self.call("initdb", "--pgdata", data, "--auth", "trust", "--username", "plimsoll", "--no-sync", "--locale", "C")
        if address:
            with (data / "pg_hba.conf").open("a", encoding="utf-8") as file:
                file.write("host all all samenet trust\n")
        self.process = subprocess.Popen(
            [*prefix, *self.as_user(), str(self.programs / "postgres"), "-D", str(data), "-k", str(self.folder),
             "-c", f"listen_addresses={address}", "-c", "fsync=off", "-c", "max_connections=50"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        until = time.monotonic() + WAIT_S
        while not self.is_ready() and time.monotonic() < until:
            time.sleep(0.1)
        self.url = f"postgresql://plimsoll@{address}/postgres" + ("" if address else f"?host={self.folder}")

    def as_user(self) -> list[str]:
        return ["runuser", "-u", str(USER), "--"] if os.geteuid() == 0 else []

    def call(self, name: str, *arguments: object) -> None:
        command = [*self.as_user(), str(self.programs / name), *map(str, arguments)]
        subprocess.run(command, check=True, capture_output=True, text=True, cwd="/")

    def is_ready(self) -> bool:
        try:
            self.call("pg_isready", "-h", self.folder, "-U", "plimsoll")
        except subprocess.CalledProcessError:
            return False
        return True

    def stop(self) -> None:
        with contextlib.suppress(subprocess.CalledProcessError):
            self.call("pg_ctl", "stop", "--pgdata", self.folder / "data", "--mode", "immediate")
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=20)
        self.process.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


@unittest.skipUnless(SERVER, "no PostgreSQL server is installed here (Debian: apt-get install postgresql)")
@unittest.skipUnless(USER, "there is no user for a PostgreSQL server")
class ManyWorkers(FolderCase):
    def setUp(self) -> None:
        super().setUp()
        self.fake = self.program(FAKE)
        self.scenario = self.directory / "slow.yaml"
        self.scenario.write_text("name: slow\n", "utf-8")
        self.server = Postgres()
        self.addCleanup(self.server.stop)

    def worker(self, number: int) -> subprocess.Popen[str]:
        """The same command, but for where its result goes: here the machines share a folder."""
        process = subprocess.Popen(
            [sys.executable, *program_of("tuning"), str(self.scenario), "--policy", "fake",
             "--trials", str(TRIALS), "--seeds", "1..4", "--held-out-seeds", f"11..{10 + HELD_OUT}", "--jobs", "1",
             "--storage", self.server.url, "--heartbeat", "2", "--out", str(self.directory / f"out-{number}")],
            env={**os.environ, "PLIMSOLL": str(self.fake)}, text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        self.addCleanup(process.kill)
        return process

    def studies(self) -> dict[str, list[optuna.trial.FrozenTrial]]:
        """The trials of the search, of what carries the gain and of the verdict, as the server has them."""
        storage = open_storage(self.server.url, 1, 3)
        found = {}
        for name in optuna.get_all_study_names(storage):
            kind = next((kind for kind in ("verdict", "one each", "without") if kind in name), "search")
            assert kind not in found, "one command made two studies"
            found[kind] = optuna.load_study(study_name=name, storage=storage).get_trials()
        storage.engine.dispose()
        return found

    def kill_in_mid_trial(self, workers: list[subprocess.Popen[str]]) -> tuple[subprocess.Popen[str], int]:
        """Kills a worker that has a trial with a seed behind it and more before it; also the trial's number."""
        until = time.monotonic() + WAIT_S
        while time.monotonic() < until:
            for trial in self.studies().get("search", []):
                if trial.state == TrialState.RUNNING and "round_0" in trial.user_attrs:
                    pid = int(trial.user_attrs["worker"].rpartition(":")[2])
                    victim = next(worker for worker in workers if worker.pid == pid)
                    victim.send_signal(signal.SIGKILL)
                    victim.wait()
                    after = self.studies()["search"][trial.number]
                    if after.state == TrialState.RUNNING:
                        return victim, trial.number
                    workers.append(self.worker(len(workers)))  # It had just finished: another one takes its place.
            time.sleep(0.02)
        self.fail("no worker was ever seen in mid-trial")

    def attempts_before(self, trial: optuna.trial.FrozenTrial, trials: list[optuna.trial.FrozenTrial]) -> list[int]:
        """The trials that it does again: on a slow machine a worker that lives may be taken for dead, too."""
        found: list[int] = []
        while "retry_of" in trial.user_attrs:
            trial = trials[trial.user_attrs["retry_of"]]
            found.append(trial.number)
        return found

    def test_four_workers_share_one_study_and_the_loss_of_one_loses_nothing(self) -> None:
        workers = [self.worker(number) for number in range(4)]
        _, lost = self.kill_in_mid_trial(workers)
        survivors = [worker for worker in workers if worker.poll() is None]
        self.assertGreaterEqual(len(survivors), 3)
        for worker in survivors:
            _, err = worker.communicate(timeout=WAIT_S)
            self.assertEqual((worker.returncode, err), (0, ""))
        studies = self.studies()

        # The study ends at exactly the trials that were asked for, and each slot is there once.
        trials = studies["search"]
        settled = [trial for trial in trials if trial.state in (TrialState.COMPLETE, TrialState.PRUNED)]
        self.assertEqual(sorted(trial.user_attrs["slot"] for trial in settled), list(range(TRIALS)))
        self.assertFalse([trial for trial in trials if trial.state in (TrialState.RUNNING, TrialState.WAITING)])
        # More than one worker had a part in it.
        self.assertGreater(len({trial.user_attrs["worker"] for trial in settled}), 1)

        # The lost trial is marked, and its slot was done again, with the same parameters and the seed that was done.
        marked = trials[lost]
        self.assertEqual(marked.state, TrialState.FAIL)
        again = next(trial for trial in settled if trial.user_attrs["slot"] == marked.user_attrs["slot"])
        self.assertIn(lost, self.attempts_before(again, trials))
        self.assertEqual(again.params, marked.params)
        self.assertEqual(again.user_attrs["round_0"], marked.user_attrs["round_0"])
        self.assertNotEqual(again.user_attrs["worker"], marked.user_attrs["worker"])

        # So it is with the verdict's runs, and all workers that are left say the same.
        runs = [trial.user_attrs["slot"] for trial in studies["verdict"] if trial.state == TrialState.COMPLETE]
        self.assertEqual(sorted(runs), list(range(HELD_OUT)))
        results = [self.directory / f"out-{workers.index(worker)}" for worker in survivors]
        for name in ("trials.csv", "front.csv", "verdict.csv", "held-out.csv", "policy.yaml"):
            self.assertEqual(len({(folder / name).read_bytes() for folder in results}), 1, name)
        with (results[0] / "trials.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([int(row["trial"]) for row in rows], list(range(1, TRIALS + 1)))
        facts = json.loads((results[0] / "tuning.json").read_text("utf-8"))
        self.assertIn(marked.user_attrs["slot"] + 1, facts["retried_trials"])


if __name__ == "__main__":
    unittest.main()
