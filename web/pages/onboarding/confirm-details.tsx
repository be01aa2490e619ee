import { Button, Group, Paper, Stack, Text, TextInput, Title } from '@mantine/core'
import { schemaResolver, useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import * as v from 'valibot'
import { type ApiResponse, api } from '../../api/api-client.ts'
import { fieldErrors } from '../../api/problem.ts'
import { notifyDone } from '../../components/notify.ts'
import { ProblemNotice } from '../../components/problem-notice.tsx'

const details = v.object({
  display_name: v.pipe(v.string(), v.trim(), v.nonEmpty('Say how the organisation is called.'), v.maxLength(200)),
  contact_email: v.union([v.literal(''), v.pipe(v.string(), v.trim(), v.email('This is no e-mail address.'))]),
})

/** Shows the first step in a new tenant: its details, confirmed once. Later they are in the settings. */
export function ConfirmDetails({ tenant }: { tenant: ApiResponse<'getTenant'> }) {
  const queryClient = useQueryClient()
  const save = api.useMutation('put', '/api/v1/tenant')
  const failure: unknown = save.error
  const form = useForm({
    initialValues: { display_name: tenant.display_name, contact_email: tenant.contact_email ?? '' },
    validate: schemaResolver(details, { sync: true }),
  })
  const submit = form.onSubmit(async ({ display_name, contact_email }) => {
    try {
      await save.mutateAsync({
        body: { display_name: display_name.trim(), contact_email: contact_email.trim() || null },
      })
      notifyDone('The details are confirmed.')
      await queryClient.invalidateQueries({ queryKey: ['get', '/api/v1/tenant'] })
    } catch (error) {
      form.setErrors(fieldErrors(error))
    }
  })
  return (
    <Paper withBorder p="md" component="section" aria-labelledby="confirm-details">
      <form onSubmit={submit} noValidate>
        <Stack gap="sm">
          <div>
            <Title order={2} id="confirm-details">
              First, confirm the details of the tenant
            </Title>
            <Text size="sm" c="dimmed">
              {`${tenant.tenant} runs in mode ${tenant.mode}: ${modes[tenant.mode]} Its operator chose this.`}
            </Text>
          </div>
          <Group align="flex-start" grow preventGrowOverflow={false} wrap="wrap">
            <TextInput
              label="Organisation"
              required
              maxLength={200}
              miw="15rem"
              {...form.getInputProps('display_name')}
            />
            <TextInput
              label="Contact for technical questions"
              type="email"
              placeholder="it@example.com"
              miw="15rem"
              {...form.getInputProps('contact_email')}
            />
          </Group>
          {failure ? <ProblemNotice error={failure} shownAtFields={['display_name', 'contact_email']} /> : null}
          <Group>
            <Button type="submit" loading={save.isPending}>
              Confirm details
            </Button>
          </Group>
        </Stack>
      </form>
    </Paper>
  )
}

const modes = {
  A: 'the Hub keeps content under its own key.',
  B: 'content is kept under a key of the organisation, which can be withdrawn.',
  C: 'no content is kept, only figures about it.',
} as const
