// Nodes that lead a cluster of one, stopped at chosen moments.
//
// Started as the program under test. Reads one JSON command a line from a named
// pipe and answers each with one JSON line on standard output. It decides
// nothing: when the disk stalls, when a snapshot is asked for and when the node
// is told to stop comes in as commands; what has ended is reported.
//
// Commands:
//
//	{"do":"start"}                a new node that leads and has applied a value
//	{"do":"apply","data":D}       write a value
//	{"do":"stall"}                write a value; the disk stalls under it
//	{"do":"go-on"}                the disk works again
//	{"do":"snapshot"}             ask for a snapshot, until the state machine is asked for its state
//	{"do":"hold"}                 the state machine will take its time over that
//	{"do":"let"}                  it has its state ready
//	{"do":"shutdown"}             tell the node to stop
//	{"do":"ended"}                what has come to an end: the snapshot, the shutdown
//	{"do":"snapshots"}            the snapshots in the store
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/ioutil"
	"os"
	"strings"
	"sync"
	"time"

	hclog "github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

const patience = 25 * time.Second

// disk is a log store that can stall under a write.
type disk struct {
	*raft.InmemStore
	mu      sync.Mutex
	armed   bool
	stalled chan struct{}
	goOn    chan struct{}
}

func (d *disk) StoreLog(l *raft.Log) error { return d.StoreLogs([]*raft.Log{l}) }

func (d *disk) StoreLogs(l []*raft.Log) error {
	d.mu.Lock()
	armed := d.armed
	d.armed = false
	d.mu.Unlock()
	if armed {
		close(d.stalled)
		<-d.goOn
	}
	return d.InmemStore.StoreLogs(l)
}

// machine keeps the values that were applied.
type machine struct {
	mu     sync.Mutex
	values []string
	hold   bool
	asked  chan struct{}
	let    chan struct{}
}

type state string

func (s state) Persist(sink raft.SnapshotSink) error {
	if _, err := sink.Write([]byte(s)); err != nil {
		return err
	}
	return sink.Close()
}
func (state) Release() {}

func (m *machine) Apply(l *raft.Log) interface{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.values = append(m.values, string(l.Data))
	return nil
}
func (m *machine) Snapshot() (raft.FSMSnapshot, error) {
	m.mu.Lock()
	hold, s := m.hold, state(strings.Join(m.values, " "))
	m.hold = false
	m.mu.Unlock()
	m.asked <- struct{}{}
	if hold {
		<-m.let
	}
	return s, nil
}
func (m *machine) Restore(io.ReadCloser) error { return errors.New("none") }

type node struct {
	raft  *raft.Raft
	disk  *disk
	fsm   *machine
	snaps *raft.InmemSnapshotStore

	mu       sync.Mutex
	snapshot string
	shutdown string
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "driver:", err)
		os.Exit(3)
	}
}

func start() (*node, bool) {
	c := raft.DefaultConfig()
	c.LocalID = "A"
	c.HeartbeatTimeout, c.ElectionTimeout, c.LeaderLeaseTimeout = 50*time.Millisecond, 50*time.Millisecond, 50*time.Millisecond
	c.Logger = hclog.New(&hclog.LoggerOptions{Output: os.Stderr})
	n := &node{
		disk:  &disk{InmemStore: raft.NewInmemStore(), stalled: make(chan struct{}), goOn: make(chan struct{})},
		fsm:   &machine{asked: make(chan struct{}, 16), let: make(chan struct{}, 1)},
		snaps: raft.NewInmemSnapshotStore(),
	}
	_, trans := raft.NewInmemTransport("a")
	servers := raft.Configuration{Servers: []raft.Server{{ID: "A", Address: "a"}}}
	must(raft.BootstrapCluster(c, n.disk, n.disk, n.snaps, trans, servers))
	r, err := raft.NewRaft(c, n.fsm, n.disk, n.disk, n.snaps, trans)
	must(err)
	n.raft = r
	for end := time.Now().Add(patience); r.State() != raft.Leader && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
	return n, r.State() == raft.Leader && r.Apply([]byte("first"), patience).Error() == nil
}

// word says how something ended.
func word(err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	return "done"
}

func seen(c chan struct{}) bool {
	select {
	case <-c:
		return true
	case <-time.After(patience):
		return false
	}
}

func main() {
	pipe, err := os.Open(os.Args[1])
	must(err)
	in := bufio.NewScanner(pipe)
	var n *node
	for in.Scan() {
		var q struct{ Do, Data string }
		must(json.Unmarshal(in.Bytes(), &q))
		answer := map[string]interface{}{"ok": true}
		switch q.Do {
		case "start":
			n, answer["ok"] = start()
		case "apply":
			answer["ok"] = n.raft.Apply([]byte(q.Data), patience).Error() == nil
		case "stall":
			n.disk.mu.Lock()
			n.disk.armed = true
			n.disk.mu.Unlock()
			n.raft.Apply([]byte("stalled"), patience)
			answer["ok"] = seen(n.disk.stalled)
		case "go-on":
			close(n.disk.goOn)
		case "hold":
			n.fsm.mu.Lock()
			n.fsm.hold = true
			n.fsm.mu.Unlock()
		case "let":
			n.fsm.let <- struct{}{}
		case "snapshot":
			n.mu.Lock()
			n.snapshot = ""
			n.mu.Unlock()
			go func(n *node, f raft.SnapshotFuture) {
				w := word(f.Error())
				n.mu.Lock()
				n.snapshot = w
				n.mu.Unlock()
			}(n, n.raft.Snapshot())
			answer["ok"] = seen(n.fsm.asked)
		case "shutdown":
			go func(n *node, f raft.Future) {
				w := word(f.Error())
				n.mu.Lock()
				n.shutdown = w
				n.mu.Unlock()
			}(n, n.raft.Shutdown())
		case "ended":
			n.mu.Lock()
			answer["snapshot"], answer["shutdown"] = n.snapshot, n.shutdown
			n.mu.Unlock()
		case "snapshots":
			list, err := n.snaps.List()
			must(err)
			states := []string{}
			for _, s := range list {
				_, from, err := n.snaps.Open(s.ID)
				must(err)
				b, err := ioutil.ReadAll(from)
				must(err)
				states = append(states, string(b))
			}
			answer["states"] = states
		}
		line, err := json.Marshal(answer)
		must(err)
		fmt.Printf("%s\n", line)
	}
}
