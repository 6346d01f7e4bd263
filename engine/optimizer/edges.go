package optimizer

import "placet/engine"

// Statuses of a cycle.
const (
	Context   engine.Status = "context"        // begun; what is known is being collected, or a person decides whether it goes on
	Deciding  engine.Status = "deciding"       // waits for the assets, then decides the level
	Running   engine.Status = "running"        // the level is carried out, by a command or by an agent
	Reporting engine.Status = "reporting"      // the report stands, its audit row is being written
	Awaiting  engine.Status = "awaiting_human" // the report is being judged by a person
	Reached   engine.Status = "goal"           // final: goal.json stands
	Failed    engine.Status = "failed"         // final: level 10 could not be done, or the cycle was stopped
)

// ofCycle is what moves in every row.
const ofCycle = "cycle"

// Events.
const (
	triggered   = "triggered"
	collected   = "collected"
	continued   = "continued"
	declined    = "declined"
	decided     = "decided"
	retrieved   = "retrieved"
	retried     = "retried"
	demoted     = "demoted"
	levelFailed = "level_failed"
	reported    = "reported"
	recorded    = "recorded"
	answered    = "answered"
	timedOut    = "timed_out"
	stopped     = "stopped"
)

// edges is the table: what is possible. step.go says which edge is taken now.
var edges = []engine.Edge{
	{Of: ofCycle, From: "", Event: triggered, To: Context},
	{Of: ofCycle, From: Context, Event: collected, To: Deciding},
	{Of: ofCycle, From: Context, Event: continued, To: Deciding},
	{Of: ofCycle, From: Context, Event: declined, To: Failed},
	{Of: ofCycle, From: Deciding, Event: decided, To: Running},
	{Of: ofCycle, From: Running, Event: retrieved, To: Running},
	{Of: ofCycle, From: Running, Event: retried, To: Running},
	{Of: ofCycle, From: Running, Event: demoted, To: Running},
	{Of: ofCycle, From: Running, Event: levelFailed, To: Failed},
	{Of: ofCycle, From: Running, Event: reported, To: Reporting},
	{Of: ofCycle, From: Reporting, Event: recorded, To: Awaiting},
	{Of: ofCycle, From: Awaiting, Event: answered, To: Reached},
	{Of: ofCycle, From: Awaiting, Event: timedOut, To: Reached},
	{Of: ofCycle, From: Context, Event: stopped, To: Failed},
	{Of: ofCycle, From: Deciding, Event: stopped, To: Failed},
	{Of: ofCycle, From: Running, Event: stopped, To: Failed},
	{Of: ofCycle, From: Reporting, Event: stopped, To: Failed},
	{Of: ofCycle, From: Awaiting, Event: stopped, To: Failed},
}

// final reports whether a status has no way out.
func final(s engine.Status) bool { return s == Reached || s == Failed }
