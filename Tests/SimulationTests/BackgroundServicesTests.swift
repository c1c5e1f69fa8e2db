import Lifecycle
import Plan
import Pressure
import Quantities
import Simulation
import TestSupport
import Testing
import Workload

/// What apps ask the system to do for them off screen.
@Suite("refreshes, processing tasks, downloads, Live Activities, picture in picture")
struct BackgroundServicesTests {
    private let mail = AppID(0)
    private let web = AppID(1)
    private let apps = [
        testApp("mail") {
            $0.backgroundModes = [.fetch, .processing, .audio]
            $0.background.eventWork = .seconds(10)
            $0.background.modesLast = .seconds(1)
        },
        testApp("web"),
    ]

    private func run(_ user: [(Double, UserAction)], _ change: (inout RunPlan) -> Void = { _ in }) throws -> RunOutput {
        try live(apps, user, change)
    }

    /// The instants, in seconds, and the reasons of the events that the app was woken or launched for.
    private func wakes(_ run: RunOutput) -> [String] {
        run.rows("background_event", of: "mail").map { "\($0.time) \($0.detail)" }
    }

    private func refusals(_ run: RunOutput) -> [String] {
        run.eventRows.filter { $0.event == "refused" }.map { "\($0.detail) \($0.app): \($0.reason)" }
    }

    private func band(_ run: RunOutput, at instant: Double) -> String? {
        TableRow.all(in: run.apps).last { ($0.number("time_s") ?? 0) <= instant && $0["app"] == "mail" }?["band"]
    }

    @Test("a refresh runs at its earliest date, if the app is off screen, with a process or without")
    func refresh() throws {
        let user: [(Double, UserAction)] = [
            (1, .launch(mail)), (10, .submit(mail, .backgroundFetch, after: .seconds(20))), (15, .home),
        ]
        #expect(wakes(try run(user)) == ["30 backgroundFetch"])
        // It is launched for it.
        let launched = try run(user + [(20, .terminate(mail))])
        #expect(launched.rows("launch", of: "mail").map(\.reason).last == "backgroundFetch")
        // On screen it waits until the user leaves.
        let late = try run([user[0], user[1], (50, .home)])
        #expect(wakes(late).count == 1 && wakes(late)[0].hasPrefix("50"))
    }

    @Test("one refresh may be pending, ten processing tasks; an app asks only while its code runs")
    func limits() throws {
        let processing: [(Double, UserAction)] = (0..<11).map {
            (Double(11 + $0), .submit(mail, .processing, after: nil))
        }
        let run = try run(
            [
                (1, .submit(mail, .backgroundFetch, after: nil)), (2, .launch(mail)),
                (10, .submit(mail, .backgroundFetch, after: nil)),
                (10.5, .submit(mail, .backgroundFetch, after: nil)),
            ] + processing + [(30, .home), (60, .download(mail, lasting: .seconds(1)))])
        #expect(
            refusals(run) == [
                "submit_refresh mail: it is not running",
                "submit_refresh mail: it has as many pending requests as the system allows",
                "submit_processing mail: it has as many pending requests as the system allows",
                "download mail: it is suspended: no code runs",
            ])
    }

    @Test("the budget: the next refresh runs only after the interval")
    func budget() throws {
        let run = try run(
            [
                (1, .launch(mail)), (10, .submit(mail, .backgroundFetch, after: nil)), (12, .home),
                (40, .launch(mail)), (45, .submit(mail, .backgroundFetch, after: nil)), (46, .home),
            ]) { $0.lifecycle.refreshInterval = .seconds(60) }
        let times = wakes(run).map { $0.prefix(2) }
        #expect(times == ["12", "72"])
    }

    @Test("a processing task waits until the device is idle, and expires when the user picks it up")
    func processing() throws {
        let run = try run([
            (1, .launch(mail)), (10, .submit(mail, .processing, after: nil)), (15, .home),
            (60, .lock(lasting: .seconds(4))),
        ])
        #expect(wakes(run) == ["60 processing"])
        #expect(run.rows("background_task", of: "mail").map(\.detail) == ["expires"])
        // Ten seconds of work end after four.
        let ends = run.rows("process_state", of: "mail").filter { $0.detail == "suspended" }.map(\.time)
        #expect(ends.last.map { $0.hasPrefix("64") } == true, "\(ends)")
        let calm = try self.run([
            (1, .launch(mail)), (10, .submit(mail, .processing, after: nil)), (15, .home),
            (60, .lock(lasting: .seconds(30))),
        ])
        #expect(calm.rows("background_task", of: "mail").isEmpty)
    }

    @Test("after a force quit a refresh does not run until the user opens the app; a processing task does")
    func forceQuit() throws {
        let user: [(Double, UserAction)] = [
            (1, .launch(mail)), (10, .submit(mail, .backgroundFetch, after: .seconds(20))),
            (11, .submit(mail, .processing, after: nil)), (12, .quit(mail)), (60, .lock(lasting: .seconds(20))),
        ]
        #expect(wakes(try run(user)).map { $0.split(separator: " ")[1] } == ["processing"])
        let older = try run(user) { $0.lifecycle.processingAfterQuit = false }
        #expect(wakes(older).isEmpty)
        let opened = try run(user + [(90, .launch(mail)), (95, .home)])
        #expect(wakes(opened).map { $0.split(separator: " ")[1] } == ["processing", "backgroundFetch"])
    }

    @Test("downloads wake or launch the app when all are done; a force quit cancels them")
    func downloads() throws {
        let user: [(Double, UserAction)] = [
            (1, .launch(mail)), (10, .download(mail, lasting: .seconds(20))),
            (11, .download(mail, lasting: .seconds(40))), (15, .home),
        ]
        let woken = try run(user)
        #expect(wakes(woken) == ["51 urlSession"])
        let told = woken.callbacks(of: "mail").filter { $0.contains("BackgroundURLSession") }
        #expect(
            told == [
                "application(_:handleEventsForBackgroundURLSession:completionHandler:)",
                "urlSessionDidFinishEvents(forBackgroundURLSession:)",
            ])
        let launched = try run(user + [(25, .terminate(mail))])
        #expect(wakes(launched).count == 1)
        #expect(try wakes(run(user + [(25, .quit(mail))])).isEmpty)
        // An app that runs is only told.
        let front = try run([user[0], user[1]])
        #expect(wakes(front).isEmpty)
        #expect(front.callbacks(of: "mail").contains("urlSessionDidFinishEvents(forBackgroundURLSession:)"))
    }

    @Test("each wake delays the next transfer begun off screen; the screen resets the delay")
    func delay() throws {
        let first: [(Double, UserAction)] = [
            (1, .launch(mail)), (10, .download(mail, lasting: .seconds(10))), (12, .home),
        ]
        let again = try run(first + [(22, .download(mail, lasting: .seconds(1)))])
        #expect(wakes(again) == ["20 urlSession", "51 urlSession"])
        let reset = try run(first + [(30, .launch(mail)), (35, .download(mail, lasting: .seconds(10))), (36, .home)])
        #expect(wakes(reset) == ["20 urlSession", "45 urlSession"])
    }

    @Test("what waits through a restart comes after the first unlock")
    func restart() throws {
        let run = try run([
            (1, .launch(mail)), (10, .download(mail, lasting: .seconds(10))),
            (11, .submit(mail, .backgroundFetch, after: .seconds(5))), (15, .restart(lasting: .seconds(30))),
        ])
        #expect(wakes(run).allSatisfy { ($0.split(separator: " ").first.flatMap { Double($0) } ?? 0) >= 45 })
        #expect(Set(wakes(run).map { $0.split(separator: " ")[1] }) == ["urlSession", "backgroundFetch"])
    }

    @Test("a Live Activity keeps a suspended app in its band while it lasts")
    func liveActivity() throws {
        let run = try run([
            (1, .launch(mail)), (10, .liveActivity(mail, lasting: .seconds(50))), (12, .home),
            (70, .liveActivity(mail, lasting: .seconds(5))),
        ])
        #expect(band(run, at: 50) == "30" && band(run, at: 100) == "0")
        #expect(refusals(run) == ["live_activity mail: it is suspended: no code runs"])
    }

    @Test("picture in picture keeps the app running for its time, or until the user returns")
    func picture() throws {
        let user: [(Double, UserAction)] = [
            (1, .launch(mail)), (10, .pictureInPicture(mail, lasting: .seconds(50))), (12, .home),
        ]
        let run = try run(user)
        #expect(band(run, at: 50) == "120" && band(run, at: 100) == "0")
        #expect(run.story(of: "mail").last == "-> suspended")
        let back = try self.run(user + [(30, .launch(mail)), (35, .home)])
        #expect(band(back, at: 50) == "0")
        #expect(
            refusals(
                try live([testApp("mail")], [(1, .launch(mail)), (9, .pictureInPicture(mail, lasting: .seconds(1)))]))
                == ["picture_in_picture mail: the app has not declared the background mode"])
    }
}
