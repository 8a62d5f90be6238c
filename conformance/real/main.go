// Reads cluster documents as JSON lines and writes what the real filters of kube-scheduler say about each, in the same order.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"io"
	"os"
	"runtime"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
)

func main() {
	workers := flag.Int("workers", runtime.NumCPU(), "how many documents to work on at a time")
	plugins := flag.Bool("plugins", false, "list the plugins that filter, and end")
	flag.Parse()
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	permit()
	if *plugins {
		s, err := newScheduler(nil)
		must(err)
		must(json.NewEncoder(os.Stdout).Encode(s.profiles[v1.DefaultSchedulerName].filters))
		return
	}
	run(os.Stdin, os.Stdout, *workers)
}

// run hands lines to the workers in turn and collects the answers in the same turn, so that order is kept.
func run(in io.Reader, out io.Writer, workers int) {
	questions, answers := make([]chan []byte, workers), make([]chan []byte, workers)
	for i := range workers {
		questions[i], answers[i] = make(chan []byte, 64), make(chan []byte, 64)
		go work(questions[i], answers[i])
	}
	go func() {
		lines := bufio.NewReaderSize(in, 1<<20)
		for i := 0; ; i++ {
			line, err := lines.ReadBytes('\n')
			if len(line) > 0 {
				questions[i%workers] <- line
			}
			if err != nil {
				break
			}
		}
		for i := range workers {
			close(questions[i])
		}
	}()
	lines := bufio.NewWriterSize(out, 1<<20)
	for i := 0; ; i++ {
		line, more := next(answers[i%workers], lines)
		if !more {
			break
		}
		_, err := lines.Write(append(line, '\n'))
		must(err)
	}
	must(lines.Flush())
}

// next waits for an answer; what is written so far is sent before, so that who asks one by one is not kept waiting.
func next(answers chan []byte, lines *bufio.Writer) ([]byte, bool) {
	select {
	case line, more := <-answers:
		return line, more
	default:
		must(lines.Flush())
		line, more := <-answers
		return line, more
	}
}

func work(questions, answers chan []byte) {
	known := schedulers{}
	for line := range questions {
		answer, err := known.answer(line)
		if err != nil {
			answer = map[string]string{"error": err.Error()}
		}
		text, err := json.Marshal(answer)
		must(err)
		answers <- text
	}
	close(answers)
}

// schedulers are those of the configurations met so far, by the text of the configuration; making one takes a while.
type schedulers map[string]*Scheduler

// most is how many schedulers are kept at a time.
const most = 100

func (known schedulers) of(configuration []byte) (*Scheduler, error) {
	if s := known[string(configuration)]; s != nil {
		return s, nil
	}
	if len(known) >= most {
		clear(known)
	}
	s, err := newScheduler(configuration)
	if err == nil {
		known[string(configuration)] = s
	}
	return s, err
}

func (known schedulers) answer(line []byte) (any, error) {
	doc, err := parse(line)
	if err != nil {
		return nil, err
	}
	s, err := known.of(doc.Config)
	if err != nil && len(doc.Config) > 0 {
		// A scheduler with such a configuration does not start.
		return map[string][]string{"invalid": {err.Error()}}, nil
	}
	if err != nil {
		return nil, err
	}
	if doc.Validate {
		if why, err := s.admission.invalid(doc); err != nil || len(why) > 0 {
			return map[string][]string{"invalid": why}, err
		}
	}
	if err := s.load(doc); err != nil {
		return nil, err
	}
	if doc.Incoming != nil {
		return s.verdicts(doc)
	}
	return s.search(doc)
}
