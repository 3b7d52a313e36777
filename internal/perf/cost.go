package perf

import "time"

// cpuSuffix ends the name of a figure that is the CPU time of another.
const cpuSuffix = ": CPU"

// cost is what some work took, in nanoseconds: by the clock, and of CPU time of this process, which work
// beside it on the same machine changes less.
type cost struct{ wall, cpu int64 }

func ownCPU() int64 {
	cpu, _ := ownUsage()
	return cpu
}

// costOf returns what fn took.
func costOf(fn func() error) (cost, error) {
	cpu, start := ownCPU(), time.Now()
	err := fn()
	return cost{int64(time.Since(start)), ownCPU() - cpu}, err
}

// addCosts records both, divided by the number of items that each is of.
func (b *bench) addCosts(group, name string, costs []cost, items int64, yard *Yardstick, bound *Bound) {
	b.add(Figure{Group: group, Name: name, Unit: Nanoseconds, Yardstick: yard, Bound: bound,
		Stats: statsOf(each(costs, func(c cost) int64 { return c.wall / items }))})
	cpu := Figure{Group: group, Name: name + cpuSuffix, Unit: Nanoseconds, Why: "this system does not tell"}
	values := each(costs, func(c cost) int64 { return c.cpu / items })
	if ownCPU() > 0 {
		cpu.Stats, cpu.Why = statsOf(values), ""
	}
	b.add(cpu)
}
