package operation

// renamed lists the verbs that were removed, with the call that replaces each.
var renamed = map[string]string{
	"check": "recall", "calibrate": "recall", "stale": "mark stale", "retire": "mark retired", "expire": "mark expired",
	"contradict": "mark contradicted", "supersede": "mark superseded",
}

// Renamed returns the call that replaces a removed verb, "" for any other name.
func Renamed(name string) string { return renamed[name] }
