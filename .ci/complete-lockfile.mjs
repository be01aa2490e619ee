// Adds to package-lock.json the optional platform packages that the registry at hand did not list.
//
// A registry mirror may carry only the packages of its own platform; npm then writes a lock file that lacks
// the others, and `npm ci` refuses it. An entry with version, os and cpu is all npm needs to skip a package
// that is not for this machine, and to fetch it on a machine that it is for.
//
// Run after every `npm install` that changes dependencies: node .ci/complete-lockfile.mjs
import { readFileSync, writeFileSync } from 'node:fs'

const operatingSystems = [
  'aix',
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'sunos',
  'win32',
]
const architectures = ['arm', 'arm64', 'ia32', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'x64', 'wasm32']
const aliases = {
  armv7: 'arm',
  armv6: 'arm',
  arm: 'arm',
  windows: 'win32',
  wasm: 'wasm32',
  wasi: 'wasm32',
  ppc64le: 'ppc64',
  riscv64gc: 'riscv64',
}

function platformOf(name) {
  const words = name.split(/[/-]/).map((word) => aliases[word] ?? word)
  const entry = {}
  const os = words.filter((word) => operatingSystems.includes(word))
  const cpu = words.filter((word) => architectures.includes(word))
  if (words.some((word) => word.startsWith('musl'))) entry.libc = ['musl']
  if (words.some((word) => word.startsWith('gnu'))) entry.libc = ['glibc']
  return { ...entry, ...(os.length ? { os } : {}), ...(cpu.length ? { cpu } : {}) }
}

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'))
const added = []
for (const [path, entry] of Object.entries(lock.packages)) {
  for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
    const hoisted = `node_modules/${name}`
    if (lock.packages[hoisted] || lock.packages[`${path}/node_modules/${name}`]) continue
    const platform = platformOf(name)
    if (!platform.os && !platform.cpu) throw new Error(`${path} needs ${name}, whose platform its name does not tell`)
    lock.packages[hoisted] = {
      version: range.replace(/^[~^]/, ''),
      ...platform,
      optional: true,
      ...(entry.dev ? { dev: true } : {}),
    }
    added.push(name)
  }
}
const sorted = Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1))
lock.packages = Object.fromEntries(sorted)
writeFileSync('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`)
console.log(`${added.length} platform packages added${added.length ? `: ${added.join(', ')}` : ''}`)
