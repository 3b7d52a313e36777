package line

import (
	"time"
)

// InterruptGrace is how long a command may take to end by itself after an interrupt. Ending the
// process then loses nothing that was acknowledged, as a power cut does not.
const InterruptGrace = 700 * time.Millisecond

// Serves says that the command is a server, whose end takes as long as its settings say.
func (a *App) Serves() {
	if a.Serving != nil {
		a.Serving.Store(true)
	}
}
