package core_test

import (
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/repokit"
)

func TestOnDatabase(t *testing.T) { repokit.OnDatabase(t, 7) }
