import { appendFile, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openCheckpointFolder } from '../../server/modules/log/checkpoint-sinks/checkpoint-file.ts'
import type { StoredCheckpoint } from '../../server/modules/log/checkpoint-sinks/checkpoint-types.ts'
import { openNoteMaker, rootOf } from './checkpoint-notes.ts'

let parent: string
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'hub-kept-'))
})
afterEach(() => rm(parent, { recursive: true, force: true }))

const maker = openNoteMaker()
const folderOf = () => openCheckpointFolder(join(parent, 'a', 'checkpoints'))
/** All states are of one history. */
const continues = async () => true
const linesOf = async (file: string) => (await readFile(file, 'utf8')).split('\n')

test('each state is a line that says what is in its note, and nobody else may read it', async () => {
  const folder = folderOf()
  expect(await folder.newest(maker.logName)).toBeUndefined()
  for (const size of [3, 70, 5000]) await folder.keep(maker.kept(size), continues)
  const file = folder.fileOf(maker.logName)
  const lines = await linesOf(file)
  expect(lines).toHaveLength(4)
  expect(JSON.parse(lines[1]!)).toEqual(maker.kept(70))
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect((await stat(join(parent, 'a', 'checkpoints'))).mode & 0o777).toBe(0o700)
  expect(await folder.newest(maker.logName)).toEqual(maker.kept(5000))
})

test('logs whose names differ have files of their own', async () => {
  const folder = folderOf()
  const names = ['orghub/log/a', 'orghub/log/b', 'orghub.log/b', 'orghub/log/ä', 'orghub/log/a.b']
  for (const name of names) await folder.keep(openNoteMaker(name).kept(1), continues)
  const files = (await readdir(folder.place)).filter((file) => file.endsWith('.jsonl'))
  expect(files).toHaveLength(names.length)
  for (const name of names) expect((await folder.newest(name))?.log_name).toBe(name)
})

test('what is kept already is not kept again, unless another key signed it', async () => {
  const folder = folderOf()
  await folder.keep(maker.kept(9), continues)
  await folder.keep(maker.kept(9), continues)
  expect(await linesOf(folder.fileOf(maker.logName))).toHaveLength(2)
  await folder.keep(openNoteMaker(maker.logName).kept(9), continues)
  expect(await linesOf(folder.fileOf(maker.logName))).toHaveLength(3)
})

test.each([
  ['smaller', 8, undefined],
  ['of the same size and other', 9, rootOf('other')],
  ['larger, and does not continue it', 10, undefined],
])('a log that is %s is refused and the file stays', async (_, size, root) => {
  const folder = folderOf()
  await folder.keep(maker.kept(9), continues)
  const before = await readFile(folder.fileOf(maker.logName))
  const refused = folder.keep(maker.kept(size, root), async () => false)
  await expect(refused).rejects.toMatchObject({ name: 'LogRollbackError', kept: maker.kept(9) })
  expect(await readFile(folder.fileOf(maker.logName))).toEqual(before)
})

test('both are compared in their order, and one that another process has kept a later one of is passed over', async () => {
  const folder = folderOf()
  const compared: number[][] = []
  const compare = async (earlier: StoredCheckpoint, later: StoredCheckpoint) => {
    compared.push([earlier.tree_size, later.tree_size])
    return true
  }
  for (const size of [9, 12, 11]) await folder.keep(maker.kept(size), compare)
  expect(compared).toEqual([
    [9, 12],
    [11, 12],
  ])
  expect(await linesOf(folder.fileOf(maker.logName))).toHaveLength(3)
})

test('what cannot be compared now is not kept, and not taken for set back', async () => {
  const folder = folderOf()
  await folder.keep(maker.kept(9), continues)
  const away = async () => {
    throw new Error('the database is away')
  }
  await expect(folder.keep(maker.kept(10), away)).rejects.toThrow('is away')
  expect(await folder.newest(maker.logName)).toEqual(maker.kept(9))
})

test('some earlier states of a long file are the oldest, and others that change', async () => {
  const folder = folderOf()
  expect(await folder.some(maker.logName, 3)).toEqual([])
  for (let size = 1; size <= 400; size += 1) await folder.keep(maker.kept(size), continues)
  const met = new Set<number>()
  for (let time = 0; time < 40; time += 1) {
    const sizes = (await folder.some(maker.logName, 3)).map((kept) => kept.tree_size)
    expect(sizes).toHaveLength(3)
    expect(sizes[0]).toBe(1)
    for (const size of sizes) met.add(size)
  }
  expect(met.size).toBeGreaterThan(10)
})

test('a line that a crash has cut off is passed over, and does not swallow the next', async () => {
  const folder = folderOf()
  await folder.keep(maker.kept(9), continues)
  await appendFile(folder.fileOf(maker.logName), '{"kept_at":"2026-01-01T00:00:00.0000')
  expect(await folder.newest(maker.logName)).toEqual(maker.kept(9))
  await folder.keep(maker.kept(10), continues)
  expect(await folder.newest(maker.logName)).toEqual(maker.kept(10))
  expect(await linesOf(folder.fileOf(maker.logName))).toHaveLength(4)
})

test('the newest of a long file is found at its end', async () => {
  const folder = folderOf()
  for (let size = 1; size <= 400; size += 1) await folder.keep(maker.kept(size), continues)
  expect((await folder.newest(maker.logName))?.tree_size).toBe(400)
})

test('a file put aside keeps what it has, and the log begins anew', async () => {
  const folder = folderOf()
  await folder.keep(maker.kept(9), continues)
  const aside = await folder.putAside(maker.logName, 'until-today')
  expect(aside).toContain('until-today.jsonl')
  expect(JSON.parse((await linesOf(aside!))[0]!)).toEqual(maker.kept(9))
  await folder.keep(maker.kept(2), continues)
  expect(await folder.newest(maker.logName)).toEqual(maker.kept(2))
  expect(await openCheckpointFolder(join(parent, 'none')).putAside(maker.logName, 'x')).toBeUndefined()
})
