"""usage: server.py FOLDER [--host H] [--port N]: answers OpenAI's requests for completions by a model of Qwen3's or Llama's shape.
FOLDER has config.json, tokenizer.json and the weights as safetensors."""
import argparse
import sys


def serve(o):
    import model  # behind --help, which needs no package
    import service
    server = service.Server((o.host, o.port), model.Model(o.folder))
    print(f"http://{o.host}:{server.server_address[1]}/v1", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    server.server_close()


def port(text):
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port: 0 to 65535")
    return int(text)


def main():
    p = argparse.ArgumentParser(description="Answers OpenAI's requests for completions by a language model of Qwen3's or Llama's shape.")
    p.add_argument("folder", help="config.json, tokenizer.json and the weights as safetensors")
    p.add_argument("--host", default="127.0.0.1", help="the address that takes requests (default: 127.0.0.1)")
    p.add_argument("--port", type=port, default=8000, help="0: a free one (default: 8000)")
    o = p.parse_args()
    try:
        serve(o)
    except (ImportError, OSError, ValueError) as e:
        sys.exit(f"server.py: {e}")


if __name__ == "__main__":
    main()
