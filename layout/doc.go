// Package layout turns paths into (run, kind, writer) and back.
//
// It is the only place that knows where a family keeps its runs and what their
// files are called. All paths are relative to the workspace, with slashes.
// Nothing here touches a disk: where folders must be listed, the caller passes
// the listing function.
//
// One file per family; table.go has what they share, the request folder among it.
package layout
