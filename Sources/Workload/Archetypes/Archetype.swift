/// A kind of app with typical figures, which `like:` names.
public struct Archetype: Sendable {
    /// The name in scenarios.
    public let name: String
    /// One line for `plimsoll list apps`.
    public let summary: String
    /// The profile that an app of this kind begins with; its own name is empty.
    public let profile: AppProfile

    init(_ name: String, _ summary: String, _ adjust: (inout AppProfile) -> Void) {
        self.name = name
        self.summary = summary
        var profile = Archetype.blank
        profile.like = name
        adjust(&profile)
        self.profile = profile
    }

    /// All archetypes; add a new one here.
    public static let all: [Archetype] = [
        .plain, .messaging, .mail, .browser, .socialFeed, .video, .music, .podcast, .navigation, .camera,
        .photoEditor, .bigGame, .documentEditor, .widget, .weather, .shopping,
    ]

    /// The archetype with this name; nil if there is none.
    public static func named(_ name: String) -> Archetype? { all.first { $0.name == name } }
}
