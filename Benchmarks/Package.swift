// swift-tools-version: 6.1
// A package of its own, so that nobody who builds Plimsoll builds these; `swift package benchmark` in here runs them.
import PackageDescription

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v14)],
    dependencies: [
        .package(name: "plimsoll", path: ".."),
        // Without traits: its count of allocations would bring a jemalloc of its own.
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
    ],
    targets: [
        .executableTarget(
            name: "HotPaths",
            dependencies: [
                .product(name: "BasicContainers", package: "swift-collections"),
                .product(name: "Benchmark", package: "benchmark"),
                .product(name: "PlimsollKit", package: "plimsoll"),
            ],
            path: "Benchmarks/HotPaths",
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")])
    ]
)
