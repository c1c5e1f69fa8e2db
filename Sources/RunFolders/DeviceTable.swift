import Foundation
import Plan
import Quantities
import Reclaim
import Scenario

/// Every device with its figures, for other programs: the output of `plimsoll list devices --format json`.
package struct DeviceTable: Encodable {
    var formatVersion = 1
    var devices: [Device]

    package struct Device: Encodable {
        let device: String
        let title: String
        let models: String
        let os: String
        let figures: [Figure]
    }

    /// One figure. `key` is the key of a scenario that takes the value; a figure without a key is data only.
    struct Figure: Encodable {
        let device: String
        let figure: String
        let key: String?
        let value: String
        /// `measured`, `documented`, `reported`, `guess` or `assumption`.
        let confidence: String
        let source: String

        init(_ fact: DeviceFact, of device: String) {
            self.device = device
            figure = fact.name
            key = fact.isKey ? fact.name : nil
            value = fact.value
            confidence = fact.confidence.rawValue
            source = fact.source
        }
    }

    package static func json(_ presets: [DevicePreset]) throws -> String {
        let devices = presets.map { preset in
            Device(
                device: preset.name, title: preset.title, models: preset.models, os: preset.os,
                figures: preset.facts.map { Figure($0, of: preset.name) })
        }
        return try JSONDocument.of(DeviceTable(devices: devices))
    }

    /// The keys that the preset stands for, as a scenario writes them.
    package static func scenario(of preset: DevicePreset) -> String {
        let blank = RunPlan(
            name: preset.name, seed: 1, duration: .minutes(1), device: preset.device, monitor: preset.monitor.value,
            policy: preset.policy.value, limits: Limits(), apps: [], user: [])
        let plan = preset.applied(to: blank, managesMemory: preset.kernel != nil)
        let sections = ["device:", "monitor:", "policy:"]
        var lines: [Substring] = []
        var isWanted = false
        for line in EffectiveScenario.yaml(of: plan).split(separator: "\n") {
            if !line.hasPrefix(" ") { isWanted = sections.contains { line.hasPrefix($0) } }
            if isWanted { lines.append(line) }
        }
        lines.append("limits: { background_time: \(preset.backgroundTime.value) }")
        lines.append("lifecycle: { call: \(preset.call.rawValue) }")
        return lines.joined(separator: "\n")
    }
}
