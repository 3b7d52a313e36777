package cli

const (
	shapePolicy = `{"path": "text", "present": "bool", "rules": [{"note": "text|null", ` +
		`"agents": ["text"], "operations": ["text"], "types": ["text"], "edges": ["text"], ` +
		`"signed": "bool"}], ` +
		`"unknown": ["text"]}`
	shapeIntegration = `{"client": "text", "level": "user|project", "path": "text", ` +
		`"changed": "bool", "dry_run": "bool", "backup": "text|null", "command": ["text"]}`
)

// machineShapes are those of commands about this machine, its clients and what agents may do.
func machineShapes() map[string][]string {
	return map[string][]string{
		"mnem integrate": {shapeIntegration, `{"clients": [{"client": "text", "title": "text", ` +
			`"level": "user|project", "path": "text", "state": "integrated|absent|damaged", ` +
			`"command": ["text"]}]}`},
		"mnem unintegrate": {shapeIntegration},
		"mnem doctor": {`{"findings": [{"level": "ok|note|warning|error", "check": "text", ` +
			`"message": "text", "fix": "text|null"}], "errors": "int", "warnings": "int"}`},
		"mnem policy init": {shapePolicy}, "mnem policy show": {shapePolicy},
		"mnem policy check": {shapePolicy, `{"allowed": "bool", "agent": "text", "operation": "text"}`,
			`{"operations": ["text"]}`},
	}
}
