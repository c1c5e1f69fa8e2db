import Testing

@testable import Worlds

@Suite("what comes of a run")
struct OutcomeTests {
    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test("rows tell exits, actions, refusals and the rules that refuse")
    func rows() {
        let events = """
            time_s,event,app,pid,scene,detail,reason,action,exit_reason
            1,exit,a,1,,an end,because,,memoryPressure
            2,action,a,1,,an end,because,terminate,
            3,refused,a,,,launch,the device is locked,,
            4,refused,,,,lock,the device is locked already,,
            5,refused,a,,,show_on_display,the display shows b,,

            """
        let decisions = """
            time_s,decision,action,reason,rule
            1,1,terminate,protected by name,protected
            1,1,terminate,idle longest,

            """
        let things = Outcomes.things(
            events: bytes(events), decisions: bytes(decisions), launches: bytes("app,kind\na,cold\n"))
        for thing in [
            "exit memoryPressure", "action terminate", "refused: the device is locked",
            "refused: the device is locked already", "refused: the display shows", "refused by protected",
            "launch cold", "event exit",
        ] {
            #expect(things.contains(thing), "\(thing)")
        }
        let known = Outcomes.frequent + Outcomes.occasional
        for thing in things { #expect(known.contains(thing), "\(thing) is in no list") }
    }

    @Test("what is rare is what fewer worlds have, however often one of them has it")
    func occurrences() {
        var occurrences = Occurrences()
        occurrences.add(["a", "a", "b"])
        occurrences.add(["a"])
        #expect(occurrences.worlds == 2 && occurrences.count(of: "a") == 2 && occurrences.count(of: "b") == 1)
        #expect(occurrences.rare(["a", "b", "c"], below: 2).map(\.thing) == ["b", "c"])
    }
}
