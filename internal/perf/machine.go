package perf

import (
	"bufio"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// Machine is where was measured.
type Machine struct {
	CPU  string `json:"cpu"` // its name, "" where not known
	CPUs int    `json:"cpus"`
	OS   string `json:"os"`
	Arch string `json:"arch"`
	Go   string `json:"go"`
}

func machine() Machine {
	return Machine{cpuName(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version()}
}

// cpuName is what the system calls its processor.
func cpuName() string {
	switch runtime.GOOS {
	case "linux":
		f, err := os.Open("/proc/cpuinfo")
		if err != nil {
			return ""
		}
		defer func() { _ = f.Close() }() // only read from
		lines := bufio.NewScanner(f)
		for lines.Scan() {
			name, value, ok := strings.Cut(lines.Text(), ":")
			if ok && strings.TrimSpace(name) == "model name" {
				return strings.Join(strings.Fields(value), " ")
			}
		}
	case "darwin":
		out, err := exec.Command("sysctl", "-n", "machdep.cpu.brand_string").Output()
		if err == nil {
			return strings.TrimSpace(string(out))
		}
	case "windows":
		return os.Getenv("PROCESSOR_IDENTIFIER")
	}
	return ""
}
