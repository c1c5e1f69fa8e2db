import Foundation
import Subjects

// The program that libFuzzer makes of one subject: `fuzz --subject=NAME [libFuzzer's options] CORPUS...`. Only
// `Scripts/fuzz` builds it. Words with two dashes are no options of libFuzzer, which leaves them alone. `--words=NAME`
// prints a dictionary for libFuzzer, and `--longest=NAME` the most bytes of an input.

/// Chosen by `LLVMFuzzerInitialize`, which libFuzzer calls once before all inputs, on the only thread.
nonisolated(unsafe) private var chosen = Subject.canary

@_cdecl("LLVMFuzzerInitialize")
public func begin(
    _ count: UnsafeMutablePointer<Int32>,
    _ words: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>
) -> Int32 {
    for index in 0..<Int(count.pointee) {
        let word = words.pointee?[index].map { String(cString: $0) } ?? ""
        let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2, ["--subject", "--words", "--longest"].contains(parts[0]) else { continue }
        guard let subject = Subject(named: parts[1]) else {
            FileHandle.standardError.write(Data("fuzz: there is no subject '\(parts[1])'\n".utf8))
            exit(64)
        }
        chosen = subject
        switch parts[0] {
        case "--words": say(subject.words.map { "\"\($0)\"\n" }.joined())
        case "--longest": say("\(subject.longest)\n")
        default: break
        }
    }
    return 0
}

private func say(_ text: String) -> Never {
    FileHandle.standardOutput.write(Data(text.utf8))
    exit(0)
}

@_cdecl("LLVMFuzzerTestOneInput")
public func take(_ data: UnsafePointer<UInt8>?, _ size: Int) -> Int32 {
    let bytes = Array(UnsafeBufferPointer(start: data, count: size))
    do {
        _ = try chosen.read(bytes)
    } catch {
        FileHandle.standardError.write(Data("finding: \(chosen.name): \(error)\n".utf8))
        // libFuzzer keeps the input that aborts.
        abort()
    }
    return 0
}
