import Quantities

/// What a process is that is no app: a helper of an app, an extension, or a daemon.
///
/// Such a process has no scenes and no callbacks of UIKit. Its raw value is the kind's name in scenarios.
public enum ProcessKind: String, CaseIterable, Sendable {
    /// A process of an app: it starts, comes to the front, is suspended and ends with the app.
    case helper
    /// WebKit's process for the content of pages: a helper.
    case webContent = "web-content"
    /// WebKit's process for the network: a helper.
    case networking
    /// Changes a notification before it is shown.
    case notificationService = "notification-service"
    case widget
    case keyboard
    case share
    case action
    case packetTunnel = "packet-tunnel"
    case appProxy = "app-proxy"
    case dnsProxy = "dns-proxy"
    case filterControl = "filter-control"
    case filterData = "filter-data"
    case appPush = "app-push"
    case broadcastUpload = "broadcast-upload"
    case messageFilter = "message-filter"
    /// An extension of another kind, of which no limit is known.
    case otherExtension = "extension"
    /// A process of the system: it works when it is asked, and is idle otherwise.
    case daemon
}

/// What a process is in the group of its app.
public enum ProcessFamily: Hashable, Sendable {
    case helper
    case `extension`
    case daemon
}

extension ProcessKind {
    /// Which rules of life apply.
    public var family: ProcessFamily {
        switch self {
        case .helper, .webContent, .networking: .helper
        case .daemon: .daemon
        case .notificationService, .widget, .keyboard, .share, .action, .packetTunnel, .appProxy, .dnsProxy,
            .filterControl, .filterData, .appPush, .broadcastUpload, .messageFilter, .otherExtension:
            .extension
        }
    }

    /// Whether the process can be shown over the app in front.
    public var isPresented: Bool {
        switch self {
        case .keyboard, .share, .action: true
        case .helper, .webContent, .networking, .notificationService, .widget, .packetTunnel, .appProxy, .dnsProxy,
            .filterControl, .filterData, .appPush, .broadcastUpload, .messageFilter, .otherExtension, .daemon:
            false
        }
    }

    /// Whether a process at work is in the band of apps in front, on the screen or not. Three logs have keyboards,
    /// packet tunnels and share sheets in band 100; that the other kinds that the user waits for, or whose work all
    /// traffic waits for, are there, too, is a guess.
    public var isHeldInFront: Bool { isPresented || worksOnDemand }

    /// Whether the process works for as long as it is demanded, however long that is: a tunnel runs for hours. Reported
    /// of packet tunnels; of the other kinds that the network or a recording goes through it is a guess.
    public var worksOnDemand: Bool {
        switch self {
        case .packetTunnel, .appProxy, .dnsProxy, .filterControl, .filterData, .broadcastUpload: true
        case .helper, .webContent, .networking, .notificationService, .widget, .keyboard, .share, .action, .appPush,
            .messageFilter, .otherExtension, .daemon:
            false
        }
    }

    /// Whether an idle process stays in memory, suspended, until something ends it. Reports have widgets, keyboards
    /// and WebContent that were suspended for many minutes; others ended soon after their work.
    public var staysSuspended: Bool {
        switch self {
        case .widget, .keyboard, .helper, .webContent, .networking, .daemon: true
        case .notificationService, .share, .action, .packetTunnel, .appProxy, .dnsProxy, .filterControl, .filterData,
            .appPush, .broadcastUpload, .messageFilter, .otherExtension:
            false
        }
    }

    /// Whether the system starts or wakes the process for this reason.
    public func isWoken(for reason: LaunchReason) -> Bool {
        switch reason {
        case .demand: family != .helper
        case .remoteNotification: self == .notificationService || self == .messageFilter || self == .appPush
        case .backgroundFetch: self == .widget
        case .userTap, .location, .url, .userActivity, .shortcutItem, .bluetoothCentrals, .processing, .call,
            .notification, .urlSession:
            false
        }
    }

    /// The fatal limit of iOS, in MB of 2^20 bytes; nil: none is known, or there is none.
    ///
    /// Measured in crash reports and kernel logs, or stated by Apple's Developer Technical Support: packet tunnel 50
    /// (iOS 15 and later; 15 before), notification service 24, widget 30 (a kill a little above 45 was seen on an
    /// iPhone 17 Pro), share and action 120 (110 to 180 by model), keyboard 77 (48 on an iPhone 6, 90 on an iPad Pro),
    /// broadcast upload 50, message filter 6, app and DNS proxy 15, filter control 12, filter data 6, app push 24
    /// (these four: iOS 15.0), WebContent 2048. A daemon without an entry of its own has 6 (iPadOS 18.5): soft while
    /// it is dirty, fatal while it is idle.
    public var limit: ByteCount? {
        switch self {
        case .helper, .networking, .otherExtension: nil
        case .webContent: .mebibytes(2_048)
        case .notificationService, .appPush: .mebibytes(24)
        case .widget: .mebibytes(30)
        case .keyboard: .mebibytes(77)
        case .share, .action: .mebibytes(120)
        case .packetTunnel, .broadcastUpload: .mebibytes(50)
        case .appProxy, .dnsProxy: .mebibytes(15)
        case .filterControl: .mebibytes(12)
        case .filterData, .messageFilter, .daemon: .mebibytes(6)
        }
    }
}
