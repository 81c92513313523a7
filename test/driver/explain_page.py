"""usage: explain_page.py PAGE.. : opens pages of `tilec explain --html` in a browser, wide and narrow, light and dark. Prints of
each what it shows, what a click on a kernel and on a line of the source chooses, and how long loading took."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from browser import Browser

COUNTS = "['section h2', '.node', 'path.arc', 'circle', '#time rect'].map(s => `${s} ${document.querySelectorAll(s).length}`).join(', ')"
FITS = "document.documentElement.scrollWidth <= innerWidth && [...document.querySelectorAll('svg')].every(s => s.closest('.scroll'))"
CLICK = """(() => {
  document.querySelector('#kernels tbody tr').click();
  return ['.node.chosen', 'tr.chosen', '#about li'].map(s => `${s} ${document.querySelectorAll(s).length}`).join(', ');
})()"""
LINK = """(() => {
  const line = document.querySelector('.pane:last-child .line.linked');
  line.click();
  const chosen = document.querySelector('.pane:first-child .line.chosen');
  const view = chosen.closest('.text').getBoundingClientRect(), at = chosen.getBoundingClientRect();
  return `${line.dataset.origin} is ${chosen.textContent.trim()}; ${at.top >= view.top && at.bottom <= view.bottom ? 'in view' : 'out of view'}`;
})()"""


def load_time(page, path):
    page.open("file://" + os.path.abspath(path))
    return page.value("performance.getEntriesByType('navigation')[0].loadEventEnd")


def look(page, path, width, scheme):
    page.size(width, 900)
    page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    page.open("file://" + os.path.abspath(path))
    print(f"{os.path.basename(path)}, {width} {scheme}: {page.value(COUNTS)}; {'fits' if page.value(FITS) else 'does not fit'}")
    print(f"  paper {page.value('getComputedStyle(document.body).backgroundColor')}; chosen: {page.value(CLICK)}")
    print(f"  {page.value(LINK)}")
    took = min(load_time(page, path) for _ in range(3))  # the machine may be busy
    print(f"  {'under' if took < 1000 else 'over'} a second, {'under' if os.path.getsize(path) < 1 << 20 else 'over'} a MB")


with Browser() as browser:
    for name in sys.argv[1:]:
        look(browser, name, 1300, "light")
        look(browser, name, 500, "dark")
