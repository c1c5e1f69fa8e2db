import Quantities

// Apple's product identifiers, as reports and logs name a device. Recalled from Apple's own lists of models. Only
// products that the preset's `models` cover are here: an iPhone 14 Plus or an iPhone 13 Pro is another device.
extension DevicePreset {
    private static let products: [(preset: String, products: [String])] = [
        ("iphone-6s", ["iPhone8,1", "iPhone8,4"]),
        ("iphone-x", ["iPhone10,3", "iPhone10,6"]),
        ("iphone-se-2", ["iPhone12,8"]),
        // XS; XS Max, twice; 11; 11 Pro; 11 Pro Max.
        ("iphone-11", ["iPhone11,2", "iPhone11,4", "iPhone11,6", "iPhone12,1", "iPhone12,3", "iPhone12,5"]),
        // 12 mini; 12; 13 mini; 13.
        ("iphone-13", ["iPhone13,1", "iPhone13,2", "iPhone14,4", "iPhone14,5"]),
        // 14; 15.
        ("iphone-14", ["iPhone14,7", "iPhone15,4"]),
        // 15 Pro; 16 Pro; 16.
        ("iphone-15-pro", ["iPhone16,1", "iPhone17,1", "iPhone17,3"]),
        // 2018 with 1 TB, 11 and 12.9 inch; 2020, 11 and 12.9 inch. Each with and without a mobile network.
        (
            "ipad-pro-6gb",
            ["iPad8,2", "iPad8,4", "iPad8,6", "iPad8,8", "iPad8,9", "iPad8,10", "iPad8,11", "iPad8,12"]
        ),
    ]

    /// The preset of a product such as `iPhone12,1`; nil if there is none.
    public static func of(product: String) -> DevicePreset? {
        products.first { $0.products.contains(product) }.flatMap { named($0.preset) }
    }

    /// The preset of a product on which this much RAM was counted. Nil if there is none, or if its RAM is another: a
    /// report counts 2 to 7 % less than the system sees.
    public static func of(product: String, counted ram: ByteCount) -> DevicePreset? {
        guard let preset = of(product: product) else { return nil }
        let (least, most) = (preset.ceiling.value * .percent(85), preset.ceiling.value * .percent(115))
        return ram >= least && ram <= most ? preset : nil
    }
}
