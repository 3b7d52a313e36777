package remember

import (
	"os"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/ramdir"
)

func TestMain(m *testing.M) { os.Exit(ramdir.Run(m)) }
