import { Button, Group, Paper, Stack, Text, TextInput, Title } from '@mantine/core'
import { schemaResolver, useForm } from '@mantine/form'
import { useState } from 'react'
import * as v from 'valibot'
import { displayNameLengthMax } from '../../../contract/limits.ts'
import { type Answer, api, hub } from '../../api/hub.ts'
import { useMe } from '../../api/me.ts'
import { fieldErrors } from '../../api/problem.ts'
import { queryClient } from '../../api/query-client.ts'
import { LinkText } from '../../components/link-text.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { notifyDone } from '../../components/notify.ts'
import { ProblemNotice } from '../../components/problem-notice.tsx'
import { CopyText } from '../../ui/copy-text.tsx'
import { Member, Members } from '../../ui/members.tsx'
import { Notice } from '../../ui/notice.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import { ContentKey } from './content-key.tsx'
import { RateLimits } from './rate-limits.tsx'

type Tenant = Answer<'getTenant'>

const modes: Record<Tenant['mode'], string> = {
  A: 'A: at the shared address of the service',
  B: 'B: at the shared address, with content encrypted under a key of your own',
  C: 'C: without content: telemetry, skills and governance events alone',
}

/** What the Hub knows of the tenant itself. */
export default function TenantPage() {
  const me = useMe()
  const tenant = api.useQuery('get', '/api/v1/tenant', {})
  return (
    <>
      <PageHeader title="Tenant" about="Details that you confirm or change, and what the operator has set." />
      <Stack gap="xl">
        <Loaded query={tenant} what="details">
          {(data) => (
            <Stack gap="xl">
              <Details key={`${data.display_name} ${data.contact_email} ${data.confirmed_at}`} tenant={data} />
              <Facts tenant={data} />
            </Stack>
          )}
        </Loaded>
        {tenant.data?.mode === 'B' && me.may('getProvision') && <ContentKey slug={tenant.data.tenant} />}
        {/* Later than what is above, so that it does not move. */}
        {!tenant.isPending && <RateLimits />}
      </Stack>
    </>
  )
}

const schema = v.object({
  display_name: v.pipe(
    v.string(),
    v.trim(),
    v.minLength(1, 'Say what the organisation is called'),
    v.maxLength(displayNameLengthMax, `At most ${displayNameLengthMax} characters`),
  ),
  contact_email: v.union([v.literal(''), v.pipe(v.string(), v.trim(), v.email())], 'Give a whole address, or nothing'),
})

function Details({ tenant }: { tenant: Tenant }) {
  const form = useForm({
    initialValues: { display_name: tenant.display_name, contact_email: tenant.contact_email ?? '' },
    validate: schemaResolver(schema, { sync: true }),
  })
  const [failure, setFailure] = useState<unknown>()
  const [busy, setBusy] = useState(false)

  async function save() {
    setBusy(true)
    setFailure(undefined)
    const { display_name, contact_email } = form.values
    try {
      await hub.PUT('/api/v1/tenant', {
        body: { display_name: display_name.trim(), contact_email: contact_email.trim() || null },
      })
      notifyDone(tenant.confirmed_at ? 'The details are saved.' : 'The details are confirmed.')
      await queryClient.invalidateQueries({ queryKey: ['get', '/api/v1/tenant'] })
    } catch (error) {
      form.setErrors(fieldErrors(error))
      setFailure(error)
    } finally {
      setBusy(false)
    }
  }

  return (
    <Paper withBorder p="md" component="section" aria-labelledby="details">
      <form onSubmit={form.onSubmit(() => void save())} noValidate>
        <Stack maw="32rem">
          <Title order={2} id="details">
            Details
          </Title>
          {!tenant.confirmed_at && (
            <Notice kind="info" title="Not confirmed yet">
              Look through the details and confirm them: it is the first step of onboarding.
            </Notice>
          )}
          <TextInput label="Name of the organisation" required {...form.getInputProps('display_name')} />
          <TextInput
            label="Contact address"
            description="Whom the operator writes to about this tenant"
            type="email"
            {...form.getInputProps('contact_email')}
          />
          {failure !== undefined && (
            <ProblemNotice
              error={failure}
              title="The details were not saved"
              shownAtFields={Object.keys(form.errors)}
            />
          )}
          <Group>
            <Button type="submit" loading={busy} disabled={!form.isDirty() && tenant.confirmed_at !== undefined}>
              {tenant.confirmed_at ? 'Save changes' : 'Confirm details'}
            </Button>
          </Group>
        </Stack>
      </form>
    </Paper>
  )
}

function Facts({ tenant }: { tenant: Tenant }) {
  const { mode, base_url, admin_email, created_at, confirmed_at, provisioned_at, live_since } = tenant
  const time = (iso: string | undefined, otherwise: string) => (iso ? <TimeText iso={iso} /> : otherwise)
  return (
    <Paper withBorder p="md" component="section" aria-labelledby="facts">
      <Title order={2} id="facts" mb="sm">
        Set by the operator
      </Title>
      <Members>
        <Member name="Tenant">{tenant.tenant}</Member>
        <Member name="Mode">{modes[mode]}</Member>
        <Member name="API address">
          <CopyText value={base_url} label="Copy the API address" />
        </Member>
        <Member name="Made for">{admin_email}</Member>
        <Member name="Created">{time(created_at, '')}</Member>
        <Member name="Confirmed">{time(confirmed_at, 'not yet')}</Member>
        <Member name="Provisioned">{time(provisioned_at, 'not yet')}</Member>
        <Member name="Live since">{time(live_since, 'not yet')}</Member>
      </Members>
      {!live_since && (
        <Text size="sm" c="dimmed" mt="sm">
          What is still missing is on the{' '}
          <LinkText to="/onboarding" underline="always">
            onboarding checklist
          </LinkText>
          .
        </Text>
      )}
    </Paper>
  )
}
