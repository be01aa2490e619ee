import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import {
  connectScim,
  enterpriseSchema,
  errorSchema,
  groupSchema,
  listSchema,
  patchSchema,
  type ScimClient,
  userSchema,
} from './scim-client.ts'

/**
 * What Microsoft publishes for those who build a SCIM endpoint: "Develop and plan provisioning for a SCIM endpoint in
 * Microsoft Entra ID", with its requirements, sample requests and answers, and the known issues of its provisioning service.
 */
let hub: TestHub
let entra: ScimClient
beforeAll(async () => {
  hub = await startHub()
  entra = await connectScim(hub, 'acme')
})
afterAll(() => hub.stop())

const uuid = () => crypto.randomUUID()
const person = (userName: string) => ({
  schemas: [userSchema, enterpriseSchema],
  externalId: uuid(),
  userName,
  active: true,
  emails: [{ primary: true, type: 'work', value: `${userName}@testuser.example` }],
  meta: { resourceType: 'User' },
  name: { formatted: 'givenName familyName', familyName: 'familyName', givenName: 'givenName' },
  roles: [],
})
const newPerson = async () => {
  const body = person(`Test_User_${uuid()}`)
  const answer = await entra.post('/Users', body)
  expect(answer.status).toBe(201)
  return { sent: body, id: answer.body.id as string, answer }
}
const newGroup = async (displayName = `Group ${uuid()}`) => {
  const answer = await entra.post('/Groups', {
    schemas: [groupSchema, 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group'],
    externalId: uuid(),
    displayName,
    meta: { resourceType: 'Group' },
  })
  expect(answer.status).toBe(201)
  return answer.body
}

describe('users', () => {
  test('test connection: a query for somebody who is not there answers an empty list', async () => {
    const { status, body, headers } = await entra.find('Users', `userName eq "non-existent ${uuid()}"`)
    expect(status).toBe(200)
    expect(body).toEqual({ schemas: [listSchema], totalResults: 0, startIndex: 1, itemsPerPage: 0, Resources: [] })
    expect(headers['content-type']).toBe('application/scim+json')
  })

  test('created, got by id, and found by what makes it unique', async () => {
    const { sent, id, answer } = await newPerson()
    const { emails, externalId, userName, name } = sent
    expect(answer.body).toMatchObject({
      id,
      externalId,
      userName,
      name,
      emails,
      active: true,
      meta: { resourceType: 'User' },
    })
    expect(answer.body.schemas[0]).toBe(userSchema)
    expect((await entra.get(`/Users/${id}`)).body).toEqual(answer.body)
    const filters = [
      `userName eq "${userName}"`,
      `userName eq "${userName.toUpperCase()}"`,
      `externalId eq "${externalId}"`,
      `emails[type eq "work"].value eq "${emails[0]?.value}"`,
      `emails[type eq "work" and value eq "${emails[0]?.value}"]`,
      `id eq "${id}" and active eq "True"`,
      `externalId eq "${externalId}" and userName eq "${userName}"`,
    ]
    for (const filter of filters) {
      const { body } = await entra.find('Users', filter)
      expect([filter, body.totalResults, body.Resources[0]?.id]).toEqual([filter, 1, id])
    }
    // As it writes spaces.
    const plus = await entra.get(`/Users?filter=userName+eq+%22${userName}%22`)
    expect(plus.body.totalResults).toBe(1)
    const other = await entra.find('Users', `emails[type eq "home"].value eq "${emails[0]?.value}"`)
    expect(other.body.totalResults).toBe(0)
  })

  test('an id that is not there is 404 with an error', async () => {
    const { status, body } = await entra.get('/Users/5171a35d82074e068ce2')
    expect(status).toBe(404)
    expect(body).toMatchObject({ schemas: [errorSchema], status: '404' })
  })

  test('updates of one and of many values, with op in any case', async () => {
    const { id } = await newPerson()
    const multi = await entra.patch(`/Users/${id}`, [
      { op: 'Replace', path: 'emails[type eq "work"].value', value: 'updatedEmail@testuser.example' },
      { op: 'Replace', path: 'name.familyName', value: 'updatedFamilyName' },
    ])
    expect(multi.status).toBe(200)
    expect(multi.body.emails).toEqual([{ primary: true, type: 'work', value: 'updatedEmail@testuser.example' }])
    expect(multi.body.name).toMatchObject({ familyName: 'updatedFamilyName', givenName: 'givenName' })
    const userName = `${uuid()}@testuser.example`
    const single = await entra.patch(`/Users/${id}`, [{ op: 'REPLACE', path: 'userName', value: userName }])
    expect([single.status, single.body.userName]).toEqual([200, userName])
  })

  test('an update without a path: dotted names, values in brackets and names with the URN of the extension', async () => {
    const { id } = await newPerson()
    const { status, body } = await entra.patch(`/Users/${id}`, [
      {
        op: 'Add',
        value: {
          'name.givenName': 'Given',
          displayName: 'Shown',
          active: 'True',
          'phoneNumbers[type eq "mobile"].value': '555 0100',
          'emails[type eq "work"].primary': 'True',
          [`${enterpriseSchema}:department`]: 'Sales',
          [`${enterpriseSchema}:manager`]: 'usr_boss',
          'urn:ietf:params:scim:schemas:extension:CustomExtensionName:2.0:User:tag': '701984',
          unknownAttribute: 'left out',
        },
      },
    ])
    expect(status).toBe(200)
    expect(body).toMatchObject({
      schemas: [userSchema, enterpriseSchema],
      name: { givenName: 'Given', familyName: 'familyName' },
      displayName: 'Shown',
      active: true,
      phoneNumbers: [{ type: 'mobile', value: '555 0100' }],
      [enterpriseSchema]: { department: 'Sales', manager: { value: 'usr_boss' } },
    })
    expect(body).not.toHaveProperty('unknownAttribute')
    const found = await entra.find('Users', `${enterpriseSchema}:department eq "sales" and id eq "${id}"`)
    expect(found.body.totalResults).toBe(1)
    const byManager = await entra.find('Users', `id eq "${id}" and manager eq "usr_boss"`, '&attributes=id')
    expect(byManager.body.Resources).toEqual([{ schemas: body.schemas, id }])
  })

  test('adding an address of a kind that is not there makes it', async () => {
    const { id, sent } = await newPerson()
    const { status, body } = await entra.patch(`/Users/${id}`, [
      { op: 'Add', path: 'emails[type eq "other"].value', value: 'proxy@testuser.example' },
      { op: 'Add', path: 'addresses[type eq "work"].streetAddress', value: 'One Way' },
      { op: 'Add', path: `${enterpriseSchema}:employeeNumber`, value: '00123' },
    ])
    expect(status).toBe(200)
    expect(body.emails).toEqual([...sent.emails, { type: 'other', value: 'proxy@testuser.example' }])
    expect(body.addresses).toEqual([{ type: 'work', streetAddress: 'One Way' }])
    expect(body[enterpriseSchema]).toEqual({ employeeNumber: '00123' })
  })

  test('replacing one of a kind that is not there has no target', async () => {
    const { id } = await newPerson()
    const { status, body } = await entra.patch(`/Users/${id}`, [
      { op: 'Replace', path: 'emails[type eq "home"].value', value: 'x' },
    ])
    expect([status, body.scimType]).toEqual([400, 'noTarget'])
  })

  test.each([false, 'False', 'false'])('disabled by %j, still there, and enabled again', async (value) => {
    const { id, sent } = await newPerson()
    const disabled = await entra.patch(`/Users/${id}`, [{ op: 'Replace', path: 'active', value }])
    expect([disabled.status, disabled.body.active]).toEqual([200, false])
    expect((await entra.get(`/Users/${id}`)).body.active).toBe(false)
    const found = await entra.find('Users', `userName eq "${sent.userName}"`)
    expect(found.body.Resources[0]).toMatchObject({ id, active: false })
    const enabled = await entra.patch(`/Users/${id}`, [{ op: 'Replace', path: 'active', value: 'True' }])
    expect([enabled.status, enabled.body.active]).toEqual([200, true])
  })

  test('deleted for good', async () => {
    const { id, sent } = await newPerson()
    const { status, text } = await entra.call('DELETE', `/Users/${id}`)
    expect([status, text]).toEqual([204, ''])
    expect((await entra.get(`/Users/${id}`)).status).toBe(404)
    expect((await entra.find('Users', `userName eq "${sent.userName}"`)).body.totalResults).toBe(0)
  })

  test('listed in pages', async () => {
    await newPerson()
    await newPerson()
    const first = await entra.get('/Users?startIndex=1&count=1')
    const second = await entra.get('/Users?startIndex=2&count=1')
    expect([first.body.itemsPerPage, second.body.itemsPerPage]).toEqual([1, 1])
    expect(first.body.Resources[0].id).not.toBe(second.body.Resources[0].id)
  })
})

describe('groups', () => {
  test('created without members, got and found without them', async () => {
    const group = await newGroup()
    expect(group).toMatchObject({ schemas: [groupSchema], members: [], meta: { resourceType: 'Group' } })
    const got = await entra.get(`/Groups/${group.id}?excludedAttributes=members`)
    expect(got.status).toBe(200)
    expect(got.body).not.toHaveProperty('members')
    expect(got.body).toMatchObject({ id: group.id, externalId: group.externalId, displayName: group.displayName })
    const found = await entra.find('Groups', `displayName eq "${group.displayName}"`, '&excludedAttributes=members')
    expect(found.body).toMatchObject({ totalResults: 1, Resources: [{ id: group.id }] })
    expect(found.body.Resources[0]).not.toHaveProperty('members')
  })

  test('renamed', async () => {
    const group = await newGroup()
    const displayName = `${uuid()}updatedDisplayName`
    const { status, body } = await entra.patch(`/Groups/${group.id}`, [
      { op: 'Replace', path: 'displayName', value: displayName },
    ])
    expect([status, body.displayName]).toEqual([200, displayName])
  })

  test('members come one at a time, side by side, and go by value and by filter', async () => {
    const group = await newGroup()
    const people = await Promise.all(Array.from({ length: 6 }, newPerson))
    const answers = await Promise.all(
      people.map(({ id }) =>
        entra.patch(`/Groups/${group.id}`, [{ op: 'Add', path: 'members', value: [{ $ref: null, value: id }] }]),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual(people.map(() => 200))
    const members = async () => {
      const { body } = await entra.get(`/Groups/${group.id}`)
      return body.members.map(({ value }: { value: string }) => value).sort()
    }
    const ids = people.map(({ id }) => id)
    expect(await members()).toEqual(ids.toSorted())
    const [first = '', second = '', ...others] = ids
    await entra.patch(`/Groups/${group.id}`, [{ op: 'Remove', path: 'members', value: [{ $ref: null, value: first }] }])
    await entra.patch(`/Groups/${group.id}`, [{ op: 'Remove', path: `members[value eq "${second}"]` }])
    expect(await members()).toEqual(others.toSorted())
    const again = await entra.patch(`/Groups/${group.id}`, [
      { op: 'Remove', path: 'members', value: [{ value: first }] },
    ])
    expect(again.status).toBe(200)

    const isMember = async (id: string) =>
      (await entra.find('Groups', `id eq "${group.id}" and members eq "${id}"`, '&excludedAttributes=members')).body
        .totalResults
    expect([await isMember(first), await isMember(others[0] ?? '')]).toEqual([0, 1])
    const { body } = await entra.get(`/Users/${others[0]}`)
    expect(body.groups).toEqual([
      {
        value: group.id,
        $ref: `${hub.baseUrl}/scim/v2/acme/Groups/${group.id}`,
        display: group.displayName,
        type: 'direct',
      },
    ])
  })

  test('deleted', async () => {
    const group = await newGroup()
    expect((await entra.call('DELETE', `/Groups/${group.id}`)).status).toBe(204)
    expect((await entra.get(`/Groups/${group.id}`)).status).toBe(404)
  })
})

test('schema discovery answers a list without null', async () => {
  const { body, text } = await entra.get('/Schemas')
  expect(body.schemas).toEqual([listSchema])
  expect(body.Resources.map(({ id }: { id: string }) => id)).toEqual([userSchema, enterpriseSchema, groupSchema])
  expect(text).not.toContain('null')
})

test('the token may come with any case of the scheme, and a PATCH without the schema of its message is taken', async () => {
  const { id } = await newPerson()
  const { status } = await entra.call('PATCH', `/Users/${id}`, {
    body: { Operations: [{ op: 'replace', path: 'title', value: 'x' }] },
    headers: { authorization: `bearer ${entra.token}` },
  })
  expect(status).toBe(200)
  const wrong = await entra.call('PATCH', `/Users/${id}`, { body: { schemas: [`${patchSchema}s`], Operations: [] } })
  expect([wrong.status, wrong.body.scimType]).toEqual([400, 'invalidSyntax'])
})
