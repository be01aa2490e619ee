#!/usr/bin/env node
// Plain JavaScript for any Node version: runs the command line on the Node that this package pins.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The sources of a checkout, or the JavaScript of a package, whose types deploy/write-package.ts has removed. */
const main = ['./main.ts', '../dist/cli/main.js']
  .map((path) => fileURLToPath(new URL(path, import.meta.url)))
  .find(existsSync)

/** The `node` package keeps its executable in bin/, wherever npm has put the package. */
function pinnedNode() {
  try {
    const folder = dirname(createRequire(import.meta.url).resolve('node/package.json'))
    return ['node', 'node.exe'].map((name) => join(folder, 'bin', name)).find(existsSync)
  } catch {
    return undefined
  }
}

const node = pinnedNode()
if (node === undefined || main === undefined) {
  const fix = 'Run npm ci in its folder, or install the package again with its install scripts allowed.'
  console.error(`hub: the Node that this package pins is missing, or its files are.\n${fix}`)
  process.exit(1)
}
const child = spawn(node, [main, ...process.argv.slice(2)], { stdio: 'inherit' })
// A terminal sends its signals to both processes; any other end of this process must end the child as well.
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
process.on('SIGINT', () => {})
child.on('error', (error) => {
  console.error(`hub: ${node} does not start: ${error.message}`)
  process.exit(1)
})
child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)))
