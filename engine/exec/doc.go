// Package exec is the part of placet that meets the world outside a
// workspace's documents: local git, and the commands that the owner of the
// workspace has agreed to.
//
// # Commands
//
// A [Runner] carries out [engine.Action]s. The attempt is recorded by a
// document before [Runner.Begin] is called; when the command ends, its outcome
// is written to the document that the action names, and never more than once.
// There are two kinds:
//
//   - A check ends with placet. It has its own process group; an orderly stop
//     sends SIGTERM to the group and records the outcome "stopped".
//   - An agent outlives placet. It has its own session, and its output goes to
//     files of the state folder, so that nothing breaks when placet ends.
//     [Runner.Recover] knows it again by process id and start time.
//
// Whatever happens, an attempt gets one outcome:
//
//	finished     it ended by itself; exit_code is null where nobody saw how or
//	             a signal ended it, 128 and the signal where a judge is asked
//	timed_out    it was still running at its deadline
//	stopped      placet ended it: an orderly stop, nobody wants it any more, or
//	             agreement to it was taken back; without an outcome document that is
//	             "revoked"
//	lost         its attempt was recorded, and nobody can tell how it ended
//	not_started  it never ran: no such program, or no permission
//
// An action without an outcome document ends as a fact of this process:
// [Runner.Ended] holds it until the loop says that it is written down. Such a
// command always ends with placet. One that an orderly stop ended is known to the
// next placet as "stopped", and may begin again; what a killed placet left of one is
// ended by the next. It may write a file of its own, whose bytes come back. An action
// for a database (package sqlite) is of this kind too: see [RunnerOptions].Database.
//
// A command gets a scrubbed environment and an argument vector, never a shell
// line. It runs in the folder that it names, or in the one that it prefers. Of
// each output the head and the tail are kept, or, where the action asks for
// that, the tail of both together; where it asks for a judge, package testoutput
// says of the whole whether it holds what was expected.
//
// [Alive] tells those who only look what runs.
//
// # Sends
//
// What is given to somebody outside this machine ([engine.Send]) has an outcome document
// too. Package send carries it out, within this process: nothing of it stands in the state
// folder, and [Runner.Recover] knows nothing of it. A send that was recorded and not begun
// here is "lost"; the machine decides when to plan it so. Trust does not concern sends.
//
// # Git
//
// [Git] answers needs such as "git:log/10" from the local repository alone. A
// repository's configuration is data written by others: nothing that it names
// is run, and nothing is fetched.
package exec
