import { Box, Button, Group, NumberInput, Paper, Stack, Switch, Table, Text } from '@mantine/core'
import { schemaResolver, useForm } from '@mantine/form'
import { useState } from 'react'
import { api } from '../../api/api-client.ts'
import { fieldErrors } from '../../api/problem.ts'
import { queryClient } from '../../api/query-client.ts'
import { notifyDone } from '../../components/notify.ts'
import { ProblemNotice } from '../../components/problem-notice.tsx'
import { RecordTypeBadge, recordTypeLooks } from '../../components/record-type.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { RetentionChanges } from './retention-changes.tsx'
import {
  changesOf,
  type RetentionRules,
  type RetentionValues,
  retentionValues,
  rulesOf,
  valuesOf,
} from './retention-rules.ts'

const fourEyes = 'Who released a governance event, or a hold over a record, may not purge that record.'

interface RetentionFormProps {
  kept: RetentionRules
  mayChange: boolean
}

export function RetentionForm({ kept, mayChange }: RetentionFormProps) {
  const [asked, setAsked] = useState<RetentionValues>()
  const replace = api.useMutation('put', '/api/v1/hub/retention-rules')
  const form = useForm<RetentionValues>({
    initialValues: valuesOf(kept),
    validate: schemaResolver(retentionValues, { sync: true }),
  })
  const limit = (index: number, member: 'min_days' | 'max_days', name: string) => (
    <NumberInput
      aria-label={name}
      placeholder={member === 'min_days' ? 'any age' : 'no limit'}
      allowDecimal={false}
      allowNegative={false}
      thousandSeparator
      hideControls
      readOnly={!mayChange}
      variant={mayChange ? 'default' : 'unstyled'}
      suffix=" days"
      w={{ base: 108, sm: 150 }}
      {...form.getInputProps(`rules.${index}.${member}`)}
    />
  )

  return (
    <form onSubmit={form.onSubmit((values) => setAsked(values))} noValidate>
      <Stack gap="md">
        <Paper withBorder style={{ overflowX: 'auto' }} tabIndex={0} role="group" aria-label="Retention rules">
          <Table verticalSpacing="sm" aria-label="Retention rules">
            <Table.Thead>
              <Table.Tr>
                <Table.Th scope="col">Records</Table.Th>
                <Table.Th scope="col">Minimum retention</Table.Th>
                <Table.Th scope="col">Maximum retention</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {form.values.rules.map(({ record_type }, index) => (
                <Table.Tr key={record_type}>
                  <Table.Th scope="row">
                    <Box visibleFrom="sm">
                      <RecordTypeBadge type={record_type} />
                    </Box>
                    <Text size="xs" fw={500} hiddenFrom="sm">
                      {recordTypeLooks[record_type].label}
                    </Text>
                  </Table.Th>
                  <Table.Td>
                    {limit(index, 'min_days', `${recordTypeLooks[record_type].plural} are kept at least, in days`)}
                  </Table.Td>
                  <Table.Td>
                    {record_type === 'governance_event' ? (
                      <Text size="sm" c="dimmed">
                        never by a rule
                      </Text>
                    ) : (
                      limit(index, 'max_days', `${recordTypeLooks[record_type].plural} are purged after, in days`)
                    )}
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Paper>
        <Text size="sm" c="dimmed">
          Younger than “at least”, nobody can purge a record. Older than “after”, the Hub purges it within the hour; it
          can be restored for 30 days as any other, but the next run purges it again while the rule stands. Governance
          events go by hand only, after a release.
        </Text>
        {mayChange ? (
          <Switch label="Four eyes" description={fourEyes} {...form.getInputProps('four_eyes', { type: 'checkbox' })} />
        ) : (
          <Text size="sm">
            Four eyes: {form.values.four_eyes ? 'on' : 'off'}. {fourEyes}
          </Text>
        )}
        {mayChange && (
          <Group>
            <Button type="submit" disabled={!form.isDirty()}>
              Save rules
            </Button>
            {form.isDirty() && (
              <Button variant="default" onClick={form.reset}>
                Discard changes
              </Button>
            )}
          </Group>
        )}
      </Stack>
      <ConfirmDialog
        opened={asked !== undefined}
        onClose={() => setAsked(undefined)}
        title="Change the retention rules?"
        confirmLabel="Change rules"
        danger={asked && changesOf(valuesOf(kept), asked).some(({ purgesOver }) => purgesOver !== undefined)}
        problem={(error) => <ProblemNotice error={error} title="The rules were not changed" />}
        onConfirm={async () => {
          if (!asked) return
          try {
            await replace.mutateAsync({ body: rulesOf(asked) })
          } catch (error) {
            form.setErrors(fieldErrors(error))
            throw error
          }
          await queryClient.invalidateQueries({ queryKey: ['get', '/api/v1/hub/retention-rules'] })
          notifyDone('The retention rules are changed.')
        }}
      >
        {asked && <RetentionChanges before={valuesOf(kept)} after={asked} />}
      </ConfirmDialog>
    </form>
  )
}
