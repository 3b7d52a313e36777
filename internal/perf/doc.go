// Package perf measures what work on a memory costs: in time, in bytes and blocks written and
// read, in memory and on disk, over memories of several sizes.
//
// The memories are made up (Synth): the same seed gives the same nodes, edges, vectors and questions
// on every machine. What is measured is timed side by side with a yardstick, in turns within one
// run, so that a slow or busy machine slows down both. Times are of the machine and of the moment;
// what is counted (blocks, bytes) is not.
//
// Everything is made in a temporary directory, which is gone when Run returns, whatever happened.
package perf
