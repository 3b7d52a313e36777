//go:build !linux && !darwin && !windows

package queue

import "os"

func tryLock(*os.File, int64, int64, bool) (bool, error) { return false, errUnsupported }

func unlock(*os.File, int64, int64) error { return errUnsupported }
