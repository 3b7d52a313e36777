package cli

const (
	shapePolicy = `{"path": "text", "present": "bool", "rules": [{"note": "text|null", ` +
		`"agents": ["text"], "operations": ["text"], "types": ["text"], "edges": ["text"]}], ` +
		`"unknown": ["text"]}`
)

// machineShapes are those of commands about this machine, its clients and what agents may do.
func machineShapes() map[string][]string {
	return map[string][]string{
		"mnem policy init": {shapePolicy}, "mnem policy show": {shapePolicy},
		"mnem policy check": {shapePolicy, `{"allowed": "bool", "agent": "text", "operation": "text"}`,
			`{"operations": ["text"]}`},
	}
}
