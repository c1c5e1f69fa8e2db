import Foundation
import Reclaim
import Testing

/// Checks that file, type and name of a policy agree.
@Suite("the policies' files")
struct PolicyFilesTests {
    static let project = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    private static let folder = project.appending(path: "Sources/Reclaim/Policies")

    @Test("every policy of the catalogue has a name like its type's, and a file of its own called after that")
    func own() throws {
        for policy in PolicyCatalogue.all {
            let type = String(describing: policy)
            #expect(policy.name.replacing("-", with: "") == type.lowercased(), "\(type) is called \(policy.name)")
            let text = try String(contentsOf: Self.folder.appending(path: "\(type).swift"), encoding: .utf8)
            #expect(text.contains("public struct \(type): ReclaimPolicy {"), "\(type)")
            let policies = text.matches(of: /struct \w+: ReclaimPolicy {/)
            #expect(policies.count == 1, "\(type) shares its file with another policy")
        }
    }

    @Test("every file of the folder belongs to a policy of the catalogue")
    func known() throws {
        let types = PolicyCatalogue.all.map { String(describing: $0) }
        for file in try FileManager.default.contentsOfDirectory(atPath: Self.folder.path()) {
            #expect(types.contains(String(file.prefix { $0 != "." && $0 != "+" })), "\(file)")
        }
    }
}
