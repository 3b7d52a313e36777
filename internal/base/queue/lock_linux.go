package queue

// setOpenFileLock is F_OFD_SETLK of fcntl.
const setOpenFileLock = 37
