'use strict';
// The language server's other side: messages behind a header that says their length, over a process's input and output.
const {spawn} = require('child_process');

class Client {
  // notified: called with the method and the parameters of what the server says unasked; ended: with the reason when it is gone.
  constructor(command, args, notified, ended) {
    this.waiting = new Map(); // by number: [resolve, reject]
    this.next = 1;
    this.read = Buffer.alloc(0);
    this.notified = notified;
    this.process = spawn(command, args, {stdio: ['pipe', 'pipe', 'inherit']});
    this.process.stdout.on('data', data => this.fill(data));
    this.process.stdin.on('error', () => {}); // 'exit' tells of it
    const gone = why => {
      for (const [, reject] of this.waiting.values()) reject(new Error(why));
      this.waiting.clear();
      if (!this.closing) ended(why);
      this.closing = true;
    };
    this.process.on('error', e => gone(e.message));
    this.process.on('exit', code => gone(`the language server ended with code ${code}`));
  }

  fill(data) {
    this.read = Buffer.concat([this.read, data]);
    for (;;) {
      const end = this.read.indexOf('\r\n\r\n');
      const length = end < 0 ? null : /content-length: *(\d+)/i.exec(this.read.toString('latin1', 0, end));
      if (!length || this.read.length < end + 4 + Number(length[1])) return;
      const stop = end + 4 + Number(length[1]), text = this.read.toString('utf8', end + 4, stop);
      this.read = this.read.subarray(stop);
      this.take(JSON.parse(text));
    }
  }

  take(message) {
    if (message.method !== undefined) return this.notified(message.method, message.params);
    const [resolve, reject] = this.waiting.get(message.id) || [];
    this.waiting.delete(message.id);
    if (!resolve) return;
    if (message.error) reject(new Error(message.error.message));
    else resolve(message.result);
  }

  send(message) {
    const data = Buffer.from(JSON.stringify({jsonrpc: '2.0', ...message}));
    if (!this.closing) this.process.stdin.write(Buffer.concat([Buffer.from(`Content-Length: ${data.length}\r\n\r\n`), data]));
  }

  notify(method, params) {
    this.send({method, params});
  }

  request(method, params) {
    return new Promise((resolve, reject) => {
      if (this.closing) return reject(new Error('the language server is gone'));
      const id = this.next++;
      this.waiting.set(id, [resolve, reject]);
      this.send({id, method, params});
    });
  }

  async stop() {
    await this.request('shutdown').catch(() => {});
    this.closing = true;
    this.process.stdin.end(`Content-Length: 33\r\n\r\n{"jsonrpc":"2.0","method":"exit"}`);
  }
}

module.exports = {Client};
