// One follower of a three-node cluster, moved one request at a time.
//
// Started as the program under test. Reads one JSON command a line from a named
// pipe and answers each with one JSON line on standard output. It decides
// nothing: what the leader sends and when the disk refuses to write comes in as
// commands; what the node answered and what lies on its disk is reported.
//
// Commands:
//
//	{"do":"append","prev":I,"prev_term":T,"term":T,"commit":I,"entries":[{"index":I,"term":T,"data":S}]}
//	{"do":"refuse","writes":N}    the disk refuses the next N writes
//	{"do":"disk"}                 what the disk holds
//	{"do":"applied"}              what reached the state machine
//	{"do":"read","index":I}       read an entry as the node reads it
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	hclog "github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

type entry struct {
	Index uint64 `json:"index"`
	Term  uint64 `json:"term"`
	Data  string `json:"data"`
}

type command struct {
	Do       string
	Prev     uint64
	PrevTerm uint64 `json:"prev_term"`
	Term     uint64
	Commit   uint64
	Entries  []entry
	Writes   int
	Index    uint64
}

// disk is a log store that refuses writes on demand and counts reads.
type disk struct {
	*raft.InmemStore
	mu     sync.Mutex
	refuse int
	reads  int
}

func (d *disk) StoreLog(l *raft.Log) error { return d.StoreLogs([]*raft.Log{l}) }

func (d *disk) StoreLogs(l []*raft.Log) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.refuse > 0 {
		d.refuse--
		return errors.New("no space left on device")
	}
	return d.InmemStore.StoreLogs(l)
}

func (d *disk) GetLog(i uint64, l *raft.Log) error {
	d.mu.Lock()
	d.reads++
	d.mu.Unlock()
	return d.InmemStore.GetLog(i, l)
}

// machine keeps what was applied.
type machine struct {
	mu     sync.Mutex
	values []string
}

func (m *machine) Apply(l *raft.Log) interface{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.values = append(m.values, string(l.Data))
	return nil
}
func (m *machine) Snapshot() (raft.FSMSnapshot, error) { return nil, errors.New("none") }
func (m *machine) Restore(io.ReadCloser) error         { return nil }

// wire brings requests to the node; the node itself reaches nobody.
type wire struct{ in chan raft.RPC }

var nobody = errors.New("unreachable")

func (w *wire) Consumer() <-chan raft.RPC              { return w.in }
func (w *wire) LocalAddr() raft.ServerAddress          { return "b" }
func (w *wire) SetHeartbeatHandler(func(raft.RPC))     {}
func (w *wire) DecodePeer(b []byte) raft.ServerAddress { return raft.ServerAddress(b) }
func (w *wire) EncodePeer(_ raft.ServerID, a raft.ServerAddress) []byte {
	return []byte(a)
}
func (w *wire) AppendEntriesPipeline(raft.ServerID, raft.ServerAddress) (raft.AppendPipeline, error) {
	return nil, nobody
}
func (w *wire) AppendEntries(raft.ServerID, raft.ServerAddress, *raft.AppendEntriesRequest, *raft.AppendEntriesResponse) error {
	return nobody
}
func (w *wire) RequestVote(raft.ServerID, raft.ServerAddress, *raft.RequestVoteRequest, *raft.RequestVoteResponse) error {
	return nobody
}
func (w *wire) InstallSnapshot(raft.ServerID, raft.ServerAddress, *raft.InstallSnapshotRequest, *raft.InstallSnapshotResponse, io.Reader) error {
	return nobody
}
func (w *wire) TimeoutNow(raft.ServerID, raft.ServerAddress, *raft.TimeoutNowRequest, *raft.TimeoutNowResponse) error {
	return nobody
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "driver:", err)
		os.Exit(3)
	}
}

func main() {
	c := raft.DefaultConfig()
	c.LocalID = "B"
	// The commands play the leader, at whatever pace the machine allows.
	c.HeartbeatTimeout = time.Hour
	c.ElectionTimeout = time.Hour
	c.Logger = hclog.New(&hclog.LoggerOptions{Output: os.Stderr})

	d := &disk{InmemStore: raft.NewInmemStore()}
	cache, err := raft.NewLogCache(64, d)
	must(err)
	w := &wire{in: make(chan raft.RPC)}
	snaps := raft.NewInmemSnapshotStore()
	servers := []raft.Server{{ID: "A", Address: "a"}, {ID: "B", Address: "b"}, {ID: "C", Address: "c"}}
	must(raft.BootstrapCluster(c, cache, d, snaps, w, raft.Configuration{Servers: servers}))
	m := &machine{}
	_, err = raft.NewRaft(c, m, cache, d, snaps, w)
	must(err)

	pipe, err := os.Open(os.Args[1])
	must(err)
	in := bufio.NewScanner(pipe)
	in.Buffer(make([]byte, 1<<20), 1<<20)
	for in.Scan() {
		var q command
		must(json.Unmarshal(in.Bytes(), &q))
		answer, err := json.Marshal(run(&q, d, cache, m, w))
		must(err)
		fmt.Printf("%s\n", answer)
	}
}

func run(q *command, d *disk, cache *raft.LogCache, m *machine, w *wire) map[string]interface{} {
	switch q.Do {
	case "append":
		r := &raft.AppendEntriesRequest{
			RPCHeader: raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax},
			Term:      q.Term, Leader: []byte("a"),
			PrevLogEntry: q.Prev, PrevLogTerm: q.PrevTerm, LeaderCommitIndex: q.Commit,
		}
		for _, e := range q.Entries {
			r.Entries = append(r.Entries, &raft.Log{Index: e.Index, Term: e.Term, Type: raft.LogCommand, Data: []byte(e.Data)})
		}
		back := make(chan raft.RPCResponse, 1)
		w.in <- raft.RPC{Command: r, RespChan: back}
		got := <-back
		resp, _ := got.Response.(*raft.AppendEntriesResponse)
		return map[string]interface{}{"success": got.Error == nil && resp != nil && resp.Success}
	case "refuse":
		d.mu.Lock()
		d.refuse = q.Writes
		d.mu.Unlock()
	case "disk":
		d.mu.Lock()
		defer d.mu.Unlock()
		last, _ := d.LastIndex()
		held := []entry{}
		for i := uint64(1); i <= last; i++ {
			var l raft.Log
			if d.InmemStore.GetLog(i, &l) == nil {
				held = append(held, entry{l.Index, l.Term, string(l.Data)})
			}
		}
		return map[string]interface{}{"last": last, "held": held}
	case "applied":
		m.mu.Lock()
		defer m.mu.Unlock()
		return map[string]interface{}{"values": append([]string{}, m.values...)}
	case "read":
		d.mu.Lock()
		before := d.reads
		d.mu.Unlock()
		var l raft.Log
		err := cache.GetLog(q.Index, &l)
		d.mu.Lock()
		defer d.mu.Unlock()
		return map[string]interface{}{"found": err == nil, "data": string(l.Data), "disk_reads": d.reads - before}
	}
	return map[string]interface{}{}
}
