package cli

// Run carries out one command line in this process.
var Run = run
