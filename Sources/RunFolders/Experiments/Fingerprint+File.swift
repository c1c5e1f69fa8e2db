import Experiments
import Foundation

extension Fingerprint {
    /// The hash of a file's bytes; of no bytes if there is no such file.
    package init(ofFile path: String) { self.init(of: FileManager.default.contents(atPath: path) ?? Data()) }
}
