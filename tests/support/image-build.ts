import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chownSync, copyFileSync, cpSync, existsSync, lstatSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  environmentOf,
  execForm,
  type Instruction,
  partsOfCopy,
  readStages,
  root,
  type Stage,
} from '../deploy/dockerfile.ts'

/**
 * Carries out deploy/Dockerfile without a container engine: each stage has a folder, in which its instructions run by
 * `chroot`. The system of this machine stands for the base images (`/usr` read-only, and a copy of `/etc`), and the Node that the
 * package pins for that of the build image. Needs root, as CI has.
 */

/** Mounts what a base image contains. `$1` is the folder; the mounts vanish with the process. */
const mountBase = `set -e
mount --bind "$1" "$1"
for part in usr dev proc; do mount --rbind "/$part" "$1/$part"; done
mount -o remount,bind,ro "$1/usr"`
const path = '/opt/node/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** Creates the folder of a stage with the layout of a merged /usr. */
function layOut(folder: string): void {
  for (const name of ['usr', 'dev', 'proc', 'tmp', 'root/.npm', 'opt/node/bin']) {
    mkdirSync(join(folder, name), { recursive: true })
  }
  // Instructions may add users.
  execFileSync('cp', ['-a', '/etc', join(folder, 'etc')])
  for (const name of ['bin', 'sbin', 'lib', 'lib64']) symlinkSync(`usr/${name}`, join(folder, name))
}

/** What reaches the registry of this machine, as build arguments of a container engine do. Packages in the cache are used. */
const wayOut = {
  npm_config_prefer_offline: 'true',
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) => /^(NODE_EXTRA_CA_CERTS|SSL_CERT_\w+|\w+_proxy)$/i.test(name)),
  ),
}

function run(folder: string, workdir: string, command: string): void {
  const script = `${mountBase}
mount --bind "$2" "$1/root/.npm"
mount --bind "$3" "$1/opt/node/bin"
exec chroot "$1" /usr/bin/env -C "$4" PATH=${path} HOME=/root /bin/sh -c "$5"`
  const cache = execFileSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8', stdio: 'pipe' }).trim()
  mkdirSync(cache, { recursive: true })
  const node = join(root, 'node_modules/node/bin')
  execFileSync('unshare', ['--mount', 'sh', '-c', script, 'sh', folder, cache, node, workdir, command], {
    encoding: 'utf8',
    stdio: 'pipe',
    env: { PATH: path, ...wayOut },
  })
}

function copy(text: string, folder: string, workdir: string, stages: ReadonlyMap<string, string>): void {
  const { from, sources, target } = partsOfCopy(text)
  const to = target.startsWith('/') ? join(folder, target) : join(folder, workdir, target)
  if (from !== undefined) {
    mkdirSync(dirname(to), { recursive: true })
    execFileSync('cp', ['-a', join(stages.get(from)!, sources[0]!), to])
    return
  }
  for (const source of sources) {
    // A source that is a folder gives its content, a file itself.
    const isFolder = lstatSync(join(root, source)).isDirectory()
    const output = isFolder || !target.endsWith('/') ? to : join(to, source.split('/').at(-1)!)
    mkdirSync(dirname(output), { recursive: true })
    cpSync(join(root, source), output, { recursive: true, filter: isInContext })
  }
}

/** As .dockerignore. */
const isInContext = (path: string) => !/\/(node_modules|dist(\.[^/]*)?|__pycache__)$|\.log$/.test(path)

function carryOut(
  instruction: Instruction,
  folder: string,
  workdir: string,
  stages: ReadonlyMap<string, string>,
): string {
  const { name, text } = instruction
  if (name === 'WORKDIR') mkdirSync(join(folder, text), { recursive: true })
  if (name === 'COPY') copy(text, folder, workdir, stages)
  // Packages of the base system: this machine has them, and its /usr is not to be changed.
  if (name === 'RUN' && !text.startsWith('apt-get ')) run(folder, workdir, text)
  return name === 'WORKDIR' ? text : workdir
}

/** Builds all stages in a folder. Returns the root of the last. */
export function buildImage(folder: string): string {
  const stages = new Map<string, string>()
  let built = ''
  for (const [index, stage] of readStages().entries()) {
    built = join(folder, `stage-${index}`)
    layOut(built)
    const own = '/root/.npmrc'
    if (existsSync(own)) copyFileSync(own, join(built, own))
    let workdir = '/'
    for (const instruction of stage.instructions) workdir = carryOut(instruction, built, workdir, stages)
    if (stage.name !== undefined) stages.set(stage.name, built)
  }
  return built
}

/** Returns the bytes of all files of a folder, each once, as a layer of an image has them. */
export function bytesOf(folder: string): number {
  const seen = new Set<number>()
  let bytes = 0
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const stat = lstatSync(join(entry.parentPath, entry.name))
    if (!entry.isFile() || seen.has(stat.ino)) continue
    seen.add(stat.ino)
    bytes += stat.size
  }
  return bytes
}

const final = (): Stage => readStages().at(-1)!

/**
 * Starts a command in a container: as the user of the image, without any privilege, on a read-only root with a temporary
 * /tmp. The process is the command itself, so that signals reach it.
 *
 * @param volume the folder at the data directory; undefined leaves it read-only
 */
export function startInImage(
  image: string,
  options: {
    command?: readonly string[]
    env: Readonly<Record<string, string>>
    volume?: string
    links?: readonly string[]
  },
): ChildProcess {
  const stage = final()
  const command = options.command ?? [...execForm(stage, 'ENTRYPOINT'), ...execForm(stage, 'CMD')]
  const [uid, gid] = stage.instructions
    .find(({ name }) => name === 'USER')!
    .text.split(':')
    .map(Number) as [number, number]
  const workdir = stage.instructions.find(({ name }) => name === 'WORKDIR')!.text
  const environment = { PATH: path, ...environmentOf(stage), ...options.env }
  const binds = (options.links ?? []).map((link) => {
    mkdirSync(join(image, link), { recursive: true })
    return `mount --bind '${link}' "$1${link}"`
  })
  if (options.volume !== undefined) {
    chownSync(options.volume, uid, gid)
    binds.push(`mount --bind '${options.volume}' "$1${environmentOf(stage).HUB_DATA_DIR}"`)
  }
  const script = `${mountBase}
${binds.join('\n')}
mount -t tmpfs -o mode=1777 tmpfs "$1/tmp"
mount -o remount,bind,ro "$1"
root=$1; shift
exec chroot "$root" /usr/bin/setpriv --reuid=${uid} --regid=${gid} --clear-groups --no-new-privs --bounding-set=-all \\
  --inh-caps=-all /usr/bin/env -i -C ${workdir} "$@"`
  const assignments = Object.entries(environment).map(([name, value]) => `${name}=${value}`)
  return spawn('unshare', ['--mount', 'sh', '-c', script, 'sh', image, ...assignments, ...command], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}
