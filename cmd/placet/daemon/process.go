package daemon

import (
	"bytes"
	"os"
	"runtime"
	counts "runtime/metrics"
	"strconv"
	"syscall"
	"time"
)

// started is when this process began.
var started = time.Now()

// runtimeMetrics are what the Go runtime says of itself, under the names that Prometheus' client
// gives them.
var runtimeMetrics = map[string]metric{
	"/sched/goroutines:goroutines":       {name: "go_goroutines", kind: "gauge", help: "Number of goroutines that exist."},
	"/gc/cycles/total:gc-cycles":         {name: "go_gc_cycles_total_gc_cycles_total", kind: "counter", help: "Garbage collections that have ended."},
	"/memory/classes/heap/objects:bytes": {name: "go_memstats_heap_alloc_bytes", kind: "gauge", help: "Bytes of live objects, and of those not yet collected."},
	"/memory/classes/total:bytes":        {name: "go_memstats_sys_bytes", kind: "gauge", help: "Bytes that the Go runtime has from the system."},
	"/gc/heap/allocs:bytes":              {name: "go_memstats_alloc_bytes_total", kind: "counter", help: "Bytes of all objects that were allocated."},
	"/cpu/classes/gc/total:cpu-seconds":  {name: "go_cpu_classes_gc_total_cpu_seconds_total", kind: "counter", help: "Processor time that garbage collection took."},
	"/sched/gomaxprocs:threads":          {name: "go_sched_gomaxprocs_threads", kind: "gauge", help: "Threads that run Go code at the same time."},
}

var (
	goInfo          = metric{name: "go_info", kind: "gauge", help: "Always 1; the label says with which Go placet was built."}
	processCPU      = metric{name: "process_cpu_seconds_total", kind: "counter", help: "Processor time of this process, by user and system."}
	processStart    = metric{name: "process_start_time_seconds", kind: "gauge", help: "When this process began, in seconds since 1970."}
	processFiles    = metric{name: "process_open_fds", kind: "gauge", help: "Open file descriptors."}
	processMost     = metric{name: "process_max_fds", kind: "gauge", help: "How many file descriptors may be open."}
	processResident = metric{name: "process_resident_memory_bytes", kind: "gauge", help: "Memory of this process that is in use."}
	processVirtual  = metric{name: "process_virtual_memory_bytes", kind: "gauge", help: "Addresses that this process has mapped."}
)

// tellProcess tells what the runtime and the system say of this process. What a system does not
// say is left out.
func tellProcess(tell tell) {
	tell(goInfo, 1, "version", runtime.Version())
	for name, of := range runtimeMetrics {
		s := []counts.Sample{{Name: name}}
		switch counts.Read(s); s[0].Value.Kind() {
		case counts.KindUint64:
			tell(of, float64(s[0].Value.Uint64()))
		case counts.KindFloat64:
			tell(of, s[0].Value.Float64())
		}
	}
	tell(processStart, float64(started.UnixMilli())/1e3)
	var used syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &used) == nil {
		tell(processCPU, float64(used.Utime.Nano()+used.Stime.Nano())/1e9)
	}
	var most syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &most) == nil {
		tell(processMost, float64(most.Cur))
	}
	if files, err := os.ReadDir("/proc/self/fd"); err == nil {
		tell(processFiles, float64(len(files)-1)) // without that of the folder itself
	}
	if virtual, resident, ok := memory(); ok {
		tell(processVirtual, virtual)
		tell(processResident, resident)
	}
}

// memory returns how many bytes this process has mapped and uses, where the system says so.
func memory() (virtual, resident float64, ok bool) {
	body, err := os.ReadFile("/proc/self/statm")
	words := bytes.Fields(body)
	if err != nil || len(words) < 2 {
		return 0, 0, false
	}
	page := float64(os.Getpagesize())
	mapped, err := strconv.ParseFloat(string(words[0]), 64)
	used, err2 := strconv.ParseFloat(string(words[1]), 64)
	return mapped * page, used * page, err == nil && err2 == nil
}
