package cli_test

import (
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/program"
)

func TestMain(m *testing.M) { program.Main(m, nil) }
