import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { root } from './dockerfile.ts'
import { exampleSecrets, knownVariables, loadWithSecrets } from './settings.ts'

const textOf = (name: string) => readFileSync(join(root, 'deploy/systemd', name), 'utf8')
const unit = textOf('org-memory-hub.service')
const backupUnit = textOf('org-memory-hub-backup.service')

/** The values of each key by section and key, without comments. */
function sectionsOf(text: string): Map<string, Map<string, string[]>> {
  const sections = new Map<string, Map<string, string[]>>()
  for (const line of text.split('\n')) {
    const heading = /^\[(\w+)\]$/.exec(line)?.[1]
    if (heading) sections.set(heading, new Map())
    else if (line !== '' && !line.startsWith('#')) {
      const [, key = '', value = ''] = /^([A-Z]\w*)=(.*)$/.exec(line) ?? []
      expect(key, line).not.toBe('')
      const section = [...sections.values()].at(-1)!
      section.set(key, [...(section.get(key) ?? []), value])
    }
  }
  return sections
}
const sections = sectionsOf(unit)
const service = sections.get('Service')!
const backup = sectionsOf(backupUnit).get('Service')!
const value = (key: string) => service.get(key)?.at(-1)

const analyze = '/usr/bin/systemd-analyze'
let scratch: string
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'hub-systemd-'))
})
afterEach(() => rmSync(scratch, { recursive: true }))

test('the unit has its sections, and starts what a checkout contains', () => {
  expect([...sections.keys()]).toEqual(['Unit', 'Service', 'Install'])
  const [node, main, command] = value('ExecStart')!.split(' ')
  const installed = '/opt/org-memory-hub/'
  for (const path of [node, main]) {
    expect(path?.startsWith(installed)).toBe(true)
    expect(existsSync(join(root, path!.slice(installed.length))), path).toBe(true)
  }
  expect(command).toBe('serve')
})

test('its settings exist, name the credentials, and are accepted', () => {
  const environment = Object.fromEntries(
    service.get('Environment')!.map((text) => [text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1)]),
  )
  const known = knownVariables()
  expect(Object.keys(environment).filter((name) => !known.has(name))).toEqual([])
  const credentials = service.get('LoadCredential')!.map((text) => text.split(':')[0]!)
  const files = Object.entries(environment).filter(([name]) => name.endsWith('_FILE'))
  expect(files.map(([, path]) => path)).toEqual(credentials.map((name) => `%d/${name}`))
  const config = loadWithSecrets({ ...environment, HUB_BASE_URL: 'https://hub.example.com' }, exampleSecrets)
  expect(config.dataDir).toBe(`/var/lib/${value('StateDirectory')}`)
  expect(Number.parseInt(value('TimeoutStopSec')!, 10)).toBeGreaterThan(config.drainSeconds)
  expect(value('User')).not.toBe('root')
})

// Its own rules hold everywhere; systemd's where it is installed, as on the machine of CI.
test('it is hardened', () => {
  for (const key of ['NoNewPrivileges', 'PrivateDevices', 'PrivateTmp', 'ProtectHome', 'RestrictSUIDSGID']) {
    expect(value(key), key).toBe('yes')
  }
  expect([value('ProtectSystem'), value('CapabilityBoundingSet'), value('UMask')]).toEqual(['strict', '', '0077'])
  expect(unit).not.toMatch(/^MemoryDenyWriteExecute=yes/m)
  if (!existsSync(analyze)) return
  // Programs and files of the service are not on this machine.
  const copy = join(scratch, 'org-memory-hub.service')
  writeFileSync(copy, unit.replace(/^ExecStart=.*$/m, 'ExecStart=/bin/true'))
  const verify = execFileSync(analyze, ['verify', '--man=no', copy], { encoding: 'utf8', stdio: 'pipe' })
  expect(verify).toBe('')
  // Exits with 1 above the threshold, in tenths.
  execFileSync(analyze, ['security', '--offline=yes', '--threshold=20', '--no-pager', copy], { stdio: 'pipe' })
})

test('the backup runs each day, on the data and with the secrets of the service', () => {
  const [node, main, command, folder] = backup.get('ExecStart')![0]!.split(' ')
  expect(`${node} ${main} serve`).toBe(value('ExecStart'))
  expect([command, folder]).toEqual(['backup', backup.get('ReadWritePaths')![0]])
  for (const key of ['User', 'StateDirectory', 'EnvironmentFile', 'UMask', 'ProtectSystem']) {
    expect(backup.get(key), key).toEqual(service.get(key))
  }
  for (const key of ['Environment', 'LoadCredential']) {
    expect(
      service.get(key)!.filter((each) => !each.includes('operator-token') && !each.includes('OPERATOR_TOKEN')),
    ).toEqual(backup.get(key))
  }
  const timer = sectionsOf(textOf('org-memory-hub-backup.timer'))
  expect([timer.get('Timer')?.get('Persistent'), timer.get('Install')?.get('WantedBy')]).toEqual([
    ['yes'],
    ['timers.target'],
  ])
  if (!existsSync(analyze)) return
  execFileSync(analyze, ['calendar', timer.get('Timer')!.get('OnCalendar')![0]!], { stdio: 'pipe' })
  const copies = ['org-memory-hub-backup.service', 'org-memory-hub-backup.timer'].map((name) => join(scratch, name))
  writeFileSync(copies[0]!, backupUnit.replace(/^ExecStart=.*$/m, 'ExecStart=/bin/true'))
  writeFileSync(copies[1]!, textOf('org-memory-hub-backup.timer'))
  expect(execFileSync(analyze, ['verify', '--man=no', ...copies], { encoding: 'utf8', stdio: 'pipe' })).toBe('')
})
