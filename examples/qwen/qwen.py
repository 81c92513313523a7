"""usage: qwen.py FOLDER [--most N] [--temperature T] [--top-p P] [--seed N] PROMPT..: continues prompts by a language model of
Qwen3's or Llama's shape. FOLDER has config.json, tokenizer.json and the weights as safetensors."""
import argparse
import sys


def generate(o):
    import model  # behind --help, which needs no package
    m = model.Model(o.folder)
    choices = [model.Choice(o.temperature, top_p=o.top_p, seed=o.seed) for _ in o.prompt]
    for prompt, new in zip(o.prompt, model.generate(m, [m.tokens.encode(t) for t in o.prompt], o.most, choices)):
        print(prompt + m.tokens.decode(new))


def main():
    p = argparse.ArgumentParser(description="Continues prompts by a language model of Qwen3's or Llama's shape.")
    p.add_argument("folder")
    p.add_argument("prompt", nargs="+")
    p.add_argument("--most", type=int, default=32, help="tokens of each continuation")
    p.add_argument("--temperature", type=float, default=0.0)
    p.add_argument("--top-p", type=float, default=1.0)
    p.add_argument("--seed", type=int)
    o = p.parse_args()
    try:
        generate(o)
    except (ImportError, OSError, ValueError) as e:
        sys.exit(f"qwen.py: {e}")


if __name__ == "__main__":
    main()
