"""Libraries of a bench's programs, compiled for sm_90a; needs no GPU and no PyTorch."""
import os
import subprocess


def folder_of(names, shape):
    """A folder's name: B1_H16_16_S8192_D128. A name "_" has none."""
    return "_".join(f"{'' if n == '_' else n}{x}" for n, x in zip(names, shape))


def compile_all(build, source, folder, programs):
    """programs: (name, folder in `folder`, dims by their names). Nothing but libraries stays."""
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), source)
    for name, own, dims in programs:
        to = os.path.join(folder, own)
        sizes = [word for dim, size in dims.items() for word in ("-D", f"{dim}={size}")]
        subprocess.run([f"{build}/bin/tilec", "compile", source, f"--program={name}", "--target=sm_90a", "--emit=lib", "-o", to, *sizes], check=True)
        for file in os.listdir(to):
            if file.endswith(".so"):
                subprocess.run(["strip", f"{to}/{file}"], check=True)
            else:
                os.remove(f"{to}/{file}")
    subprocess.run(["cp", f"{build}/libtile.so", folder], check=True)
