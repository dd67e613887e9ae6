# Thin: every target is one script, and each script installs what it needs first (scripts/setup.sh).
.PHONY: demo test bench clean

demo:   ## a real model: its plan, its rows, the proof that they are exact
	@scripts/demo.sh

test:   ## build with g++ and run every test
	@scripts/test.sh release

bench:  ## rows, rotation, decoding, growth, each against its limit (ropecache bench)
	@scripts/bench.sh $(ARGS)

clean:
	rm -rf build
