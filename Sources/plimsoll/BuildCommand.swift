import ArgumentParser
import RunFolders

/// Prints the `build_id` of manifests, for scripts that make many runs; people use `doctor`.
struct BuildCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "build-id", abstract: "Prints the build of the program, as in manifests.", shouldDisplay: false)

    func run() { Terminal.say(BuildIdentity.current) }
}
