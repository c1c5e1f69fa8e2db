// swift-tools-version: 6.2
import PackageDescription

/// Release builds do not check that accesses to a property are exclusive: the checks take a quarter of a run's CPU
/// time, and all tests run with them, in debug builds. SwiftPM calls such a flag unsafe; since 6.2 it allows the flag in
/// dependencies, too, if the depending package asks for 6.2 itself.
let fast = SwiftSetting.unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release))

/// Modules off the path of a run are compiled without the optimiser in release builds, which took most of their compile
/// time. `validate`, which lives in them, takes half as long again. Interchange is not one of them: it reads traces, for
/// which it would take eight times as long.
let plain = SwiftSetting.unsafeFlags(["-Onone"], .when(configuration: .release))

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    fast,
]

/// The modules of a run are optimised in debug builds, too, all files of a module at once. All tests, those of the
/// program among them, take the debug build: its checks of exclusive access and of rows are on, and `@testable` works.
/// The other modules are not worth their compile time.
let quick = SwiftSetting.unsafeFlags(["-O", "-wmo", "-num-threads", "2"], .when(configuration: .debug))

/// A module of this package. DocC draws the arrows between modules, and the tidy test checks them.
func module(_ name: String, _ dependencies: [Target.Dependency], _ more: [SwiftSetting] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings + more)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    .testTarget(name: name + "Tests", dependencies: dependencies, exclude: exclude, swiftSettings: settings)
}

/// What reads tables in tests.
let support = Target.target(
    name: "TestSupport", dependencies: ["Metrics"], path: "Tests/TestSupport", swiftSettings: settings)

let package = Package(
    name: "plimsoll",
    products: [
        .executable(name: "plimsoll", targets: ["EntryPoint"]),
        // For packages with their own policies: the engine and everything that configures it.
        .library(
            name: "PlimsollKit",
            targets: ["Simulation", "Plan", "Scenario", "Reclaim", "Pressure", "Metrics", "Memory"]),
        // For packages whose own policies all commands are to know: the program without its entry point.
        .library(name: "PlimsollProgram", targets: ["plimsoll", "Reclaim", "Quantities"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.0"),
    ],
    targets: [
        .systemLibrary(
            name: "SystemJemalloc", pkgConfig: "jemalloc", providers: [.apt(["libjemalloc-dev"])]),
        .systemLibrary(name: "SystemZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "SystemLz4", pkgConfig: "liblz4", providers: [.apt(["liblz4-dev"])]),
        .target(name: "CJemalloc", dependencies: ["SystemJemalloc"]),
        module("Quantities", [.product(name: "BasicContainers", package: "swift-collections")], [quick]),
        module(
            "Memory",
            ["CJemalloc", "SystemLz4", "Quantities", .product(name: "BasicContainers", package: "swift-collections")],
            [quick]),
        module("Lifecycle", ["Quantities"], [quick]),
        module(
            "Workload",
            ["Lifecycle", "Quantities", .product(name: "BasicContainers", package: "swift-collections")], [quick]),
        module("Pressure", ["Lifecycle", "Quantities"], [quick]),
        module("Reclaim", ["Lifecycle", "Pressure", "Quantities"], [quick]),
        module("Metrics", ["Lifecycle", "Quantities"], [quick]),
        module("Plan", ["Memory", "Workload", "Lifecycle", "Pressure", "Reclaim", "Quantities"], [quick]),
        module(
            "Simulation",
            [
                "Plan", "Memory", "Workload", "Lifecycle", "Pressure", "Reclaim", "Metrics", "Quantities",
                .product(name: "BasicContainers", package: "swift-collections"),
                .product(name: "BitCollections", package: "swift-collections"),
                .product(name: "HeapModule", package: "swift-collections"),
                .product(name: "DequeModule", package: "swift-collections"),
            ], [quick]),
        module(
            "Interchange",
            [
                "SystemZlib", "Scenario", "Simulation", "Plan", "Memory", "Workload", "Lifecycle", "Pressure",
                "Reclaim",
                "Metrics", "Quantities",
            ]),
        module(
            "Explanation",
            ["Scenario", "Simulation", "Plan", "Memory", "Workload", "Lifecycle", "Reclaim", "Metrics", "Quantities"],
            [plain]),
        module("Experiments", ["Metrics", "Quantities"], [plain]),
        module(
            "Survival",
            [
                "Explanation", "Experiments", "Scenario", "Simulation", "Plan", "Memory", "Workload", "Lifecycle",
                "Pressure",
                "Reclaim", "Metrics", "Quantities",
            ], [plain]),
        module(
            "Worlds",
            [
                "Scenario", "Simulation", "Plan", "Memory", "Workload", "Lifecycle", "Pressure", "Reclaim", "Metrics",
                "Quantities",
            ], [plain]),
        module(
            "RunFolders",
            [
                "Survival", "Experiments", "Interchange", "Scenario", "Simulation", "Plan", "Memory", "Workload",
                "Lifecycle", "Pressure", "Reclaim", "Metrics", "Quantities",
            ], [plain]),
        module(
            "Subjects",
            [
                "RunFolders", "Worlds", "Interchange", "Scenario", "Simulation", "Plan", "Memory", "Workload",
                "Metrics",
                "Experiments", "Quantities",
            ], [plain]),
        .executableTarget(
            name: "soak",
            dependencies: [
                "Worlds", "Scenario", "Metrics", "Memory", "Quantities",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings + [plain]),
        module(
            "plimsoll",
            [
                "RunFolders", "Survival", "Scenario", "Explanation", "Interchange", "Experiments", "Simulation", "Plan",
                "Metrics",
                "Memory",
                "Reclaim", "Pressure", "Workload", "Quantities",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], [plain]),
        .executableTarget(name: "EntryPoint", dependencies: ["plimsoll"], swiftSettings: settings + [plain]),
        module(
            "Scenario",
            [
                "Plan", "Memory", "Workload", "Lifecycle", "Pressure", "Reclaim", "Metrics", "Quantities",
                .product(name: "Yams", package: "Yams"),
            ], [plain]),
        tests(
            "plimsoll",
            [
                "plimsoll", "my-policy", "RunFolders", "Scenario", "Simulation", "Plan", "Memory", "Metrics",
                "Workload",
                "Lifecycle", "Pressure",
                "Reclaim", "Quantities",
            ], exclude: ["Golden"]),
        support,
        // The program of the tutorial about policies.
        .executableTarget(
            name: "my-policy", dependencies: ["plimsoll", "Reclaim", "Quantities"], path: "Tests/my-policy",
            swiftSettings: settings),
        tests("Tidy", []),
        tests("Quantities", ["Quantities", .product(name: "BasicContainers", package: "swift-collections")]),
        tests("Lifecycle", ["Lifecycle"]),
        tests("Pressure", ["Pressure", "Lifecycle", "Quantities"]),
        tests("Reclaim", ["Reclaim", "Pressure", "Lifecycle", "Quantities"]),
        tests(
            "Simulation",
            [
                "TestSupport", "Simulation", "Plan", "Memory", "Metrics", "Workload", "Lifecycle", "Pressure",
                "Reclaim",
                "Quantities",
            ], exclude: ["Golden"]),
        tests("Memory", ["Memory", "SystemLz4", "Quantities"]),
        tests("Metrics", ["Metrics", "Lifecycle", "Quantities"]),
        tests("Experiments", ["Experiments", "Metrics", "Quantities"]),
        tests(
            "Interchange",
            [
                "TestSupport", "Interchange", "SystemZlib", "Scenario", "Simulation", "Plan", "Memory", "Metrics",
                "Workload",
                "Lifecycle", "Pressure", "Reclaim", "Quantities",
            ]),
        tests(
            "Explanation",
            [
                "Explanation", "Scenario", "Simulation", "Plan", "Memory", "Metrics", "Workload", "Lifecycle",
                "Pressure",
                "Reclaim", "Quantities",
            ]),
        tests(
            "Survival",
            [
                "TestSupport", "Survival", "Explanation", "Experiments", "Scenario", "Simulation", "Plan", "Memory",
                "Metrics", "Workload", "Lifecycle", "Pressure", "Reclaim", "Quantities",
            ]),
        tests("Worlds", ["Worlds", "Scenario", "Simulation", "Plan", "Memory", "Metrics", "Quantities"]),
        tests("Subjects", ["Subjects"], exclude: ["Corpora"]),
        tests(
            "Scenario",
            [
                "TestSupport", "Scenario", "Explanation", "Simulation", "Plan", "Memory", "Workload", "Lifecycle",
                "Pressure",
                "Reclaim",
                "Metrics", "Quantities",
            ]),
    ]
)

/// libFuzzer brings the program's entry point, so an ordinary build cannot link the fuzzers; `Scripts/fuzz` can.
if Context.environment["PLIMSOLL_FUZZ"] != nil {
    package.targets.append(
        .executableTarget(name: "fuzz", dependencies: ["Subjects"], swiftSettings: settings + [plain]))
}
