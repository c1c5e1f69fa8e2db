import Foundation
import Worlds

// Checks that compare two worlds which differ by something that must not matter.
extension Trial {
    /// The check of each relation.
    static let relations: [(relation: Relation, check: Fault.Check)] = [
        (.renaming, .renaming), (.shift, .shift), (.ample, .ample), (.idleApp, .idleApp),
    ]

    /// The relations that were compared, as things that occurred.
    func checkRelations() throws(Fault) -> [String] {
        var compared: [String] = []
        for (relation, check) in Trial.relations where checks.contains(check) {
            guard let pair = relation.pair(of: world), try hold(pair, check) else { continue }
            compared.append(Trial.thing(relation))
        }
        return compared
    }

    static func thing(_ relation: Relation) -> String { "relation \(relation.rawValue)" }

    /// Whether the two worlds could be compared, and are the same.
    private func hold(_ pair: RelatedWorlds, _ check: Fault.Check) throws(Fault) -> Bool {
        for (name, world) in [("first", pair.first), ("second", pair.second)] {
            guard case .success = world.reading else { return false }
            let place = "\(folder)/\(name)"
            try? FileManager.default.removeItem(atPath: place)
            do {
                try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
                for file in world.files {
                    try file.text.write(toFile: "\(place)/\(file.name)", atomically: false, encoding: .utf8)
                }
            } catch {
                throw Fault(check: check, kind: "the host", text: "\(error)")
            }
            do {
                try start(world.arguments(in: place, out: "\(place)/run"), check)
            } catch  where error.isOfTheHost || error.isRefused {
                return false
            }
        }
        guard !pair.tablesOfTheClock.contains(where: { RelatedWorlds.actsByTheClock(bytes("first/run/\($0).csv")) })
        else { return false }
        for table in pair.tables {
            let (first, second) = (bytes("first/run/\(table).csv"), bytes("second/run/\(table).csv"))
            guard let difference = pair.difference(first, second) else { continue }
            throw Fault(check: check, kind: "\(table).csv differs in \(difference.column)", text: difference.text)
        }
        return true
    }
}
