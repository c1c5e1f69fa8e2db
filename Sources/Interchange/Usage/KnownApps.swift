import Scenario

/// Finds an app's archetype by a word of its name, for names as people and Android write them.
///
/// The words are our choice: well-known apps, and the names that phone makers give their own. The first matching entry
/// wins, so special names precede general ones ("Facebook Messenger", "Google Docs").
enum KnownApps {
    static let table: [(archetype: String, words: [String])] = [
        (
            "messaging",
            [
                "messenger", "whatsapp", "signal", "telegram", "wechat", "viber", "line", "kakaotalk", "kik", "discord",
                "slack", "skype", "imessage", "messages", "messaging", "mms", "sms", "mobilesms", "groupme", "textnow",
                "hangouts", "orca", "chat",
            ]
        ),
        ("mail", ["gmail", "outlook", "mail", "email", "mobilemail", "protonmail"]),
        ("music", ["spotify", "music", "pandora", "soundcloud", "deezer", "iheartradio", "tidal", "shazam", "radio"]),
        ("podcast", ["podcast", "podcasts", "overcast", "castbox", "audible", "stitcher"]),
        (
            "video",
            [
                "youtube", "netflix", "hulu", "twitch", "tv", "vimeo", "disney", "vlc", "crunchyroll", "roku", "video",
                "videos", "plex",
            ]
        ),
        (
            "navigation",
            ["maps", "waze", "uber", "lyft", "navigation", "sygic", "citymapper"]
        ),
        (
            "social-feed",
            [
                "facebook", "instagram", "twitter", "x", "tiktok", "reddit", "snapchat", "pinterest", "tumblr",
                "linkedin", "quora", "imgur", "9gag", "katana", "musically", "weibo", "threads", "news", "flipboard",
                "feedly",
            ]
        ),
        (
            "photo-editor",
            ["photoshop", "lightroom", "snapseed", "vsco", "picsart", "gallery", "photos", "mobileslideshow"]
        ),
        ("camera", ["camera", "camera2", "halide"]),
        (
            "shopping",
            ["amazon", "ebay", "walmart", "etsy", "aliexpress", "shopping", "groupon", "letgo", "store"]
        ),
        ("weather", ["weather", "accuweather", "forecast"]),
        (
            "document-editor",
            ["docs", "sheets", "slides", "excel", "powerpoint", "office", "notion", "evernote"]
        ),
        (
            "big-game",
            [
                "game", "games", "pokemon", "pokémon", "minecraft", "fortnite", "pubg", "clash", "candy", "saga",
                "roblox", "genshin", "asphalt",
                "hearthstone", "bang", "legends", "solitaire", "minesweeper", "wordscapes",
            ]
        ),
        (
            "browser",
            [
                "chrome", "safari", "mobilesafari", "firefox", "opera", "browser", "edge", "duckduckgo", "brave",
                "google",
            ]
        ),
    ]

    /// The archetype for an app's name; `plain` for an unknown name.
    static func archetype(of name: String) -> String {
        let words = name.lowercased().split { !$0.isLetter && !$0.isNumber }.map(String.init)
        return table.first { entry in entry.words.contains(where: words.contains) }?.archetype ?? "plain"
    }
}
