import { Group, NumberInput, Stack, TextInput } from '@mantine/core'
import { schemaResolver, useForm } from '@mantine/form'
import { useState } from 'react'
import * as v from 'valibot'
import { priceUsdPerMtokMax } from '../../../contract/limits.ts'
import type { ApiResponse } from '../../api/api-client.ts'
import { HubProblem } from '../../api/problem.ts'
import { DateTimeInput } from '../../ui/date-time-input.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { FormButtons } from '../../ui/form-buttons.tsx'
import { PriceProblem } from './price-problem.tsx'
import { savePrices } from './save-prices.ts'

export type Price = ApiResponse<'getPrices'>['prices'][number]

const amount = v.pipe(
  v.unknown(),
  v.number('Say how much'),
  v.minValue(0, 'Not below 0'),
  v.maxValue(priceUsdPerMtokMax, `At most ${priceUsdPerMtokMax.toLocaleString()}`),
)
const schema = v.pipe(
  v.object({
    llm_model: v.pipe(v.string(), v.trim(), v.minLength(1, 'Say which, exactly as events name it')),
    llm_platform: v.string(),
    input_usd_per_mtok: amount,
    output_usd_per_mtok: amount,
    effective_from: v.pipe(v.unknown(), v.string('Say from when on')),
    effective_until: v.optional(v.string()),
  }),
  v.forward(
    v.check(
      ({ effective_from, effective_until }) => effective_until === undefined || effective_until > effective_from,
      'Has to be later than the beginning',
    ),
    ['effective_until'],
  ),
)

interface PriceFormProps {
  /** The initial values; undefined while the form is closed. */
  price: Partial<Price> | undefined
  /** The entry of the list to replace; absent, a new one is added. */
  replaces?: Price | undefined
  onClose(): void
}

/** Adds a price override, or changes one. */
export function PriceForm({ price, replaces, onClose }: PriceFormProps) {
  return (
    <Dialog
      opened={price !== undefined}
      onClose={onClose}
      title={replaces ? 'Change price' : 'Add price'}
      closeOnClickOutside={false}
    >
      {price && <Fields price={price} replaces={replaces} onClose={onClose} />}
    </Dialog>
  )
}

function Fields({ price, replaces, onClose }: PriceFormProps & { price: Partial<Price> }) {
  const form = useForm({
    initialValues: {
      llm_model: price.llm_model ?? '',
      llm_platform: price.llm_platform ?? '',
      input_usd_per_mtok: (price.input_usd_per_mtok ?? '') as number | '',
      output_usd_per_mtok: (price.output_usd_per_mtok ?? '') as number | '',
      effective_from: price.effective_from,
      effective_until: price.effective_until,
    },
    validate: schemaResolver(schema, { sync: true }),
  })
  const [failure, setFailure] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const { values } = form

  async function save() {
    setBusy(true)
    setFailure(undefined)
    const { llm_platform, effective_from = '', effective_until } = values
    const next: Price = {
      ...(llm_platform.trim() && { llm_platform: llm_platform.trim() }),
      llm_model: values.llm_model.trim(),
      input_usd_per_mtok: Number(values.input_usd_per_mtok),
      output_usd_per_mtok: Number(values.output_usd_per_mtok),
      effective_from,
      ...(effective_until && { effective_until }),
    }
    try {
      await savePrices({ add: next, remove: replaces })
      onClose()
    } catch (error) {
      if (error instanceof HubProblem) {
        // The errors concern the last entry of the sent list; the others were valid before.
        form.setErrors(
          Object.fromEntries(error.errors.map(({ pointer, detail }) => [pointer.split('/').at(-1) ?? '', detail])),
        )
      }
      setFailure(error)
    } finally {
      setBusy(false)
    }
  }

  return (
    <form onSubmit={form.onSubmit(() => void save())} noValidate>
      <Stack>
        <TextInput
          label="Model"
          description="Exactly as events name it"
          required
          data-autofocus
          {...form.getInputProps('llm_model')}
        />
        <TextInput
          label="Platform"
          description="On every platform that has no price of its own where empty"
          placeholder="Every platform"
          {...form.getInputProps('llm_platform')}
        />
        <Group grow align="flex-start">
          <NumberInput
            label="Input, US dollars"
            description="Per million tokens"
            required
            min={0}
            decimalScale={12}
            {...form.getInputProps('input_usd_per_mtok')}
          />
          <NumberInput
            label="Output, US dollars"
            description="Per million tokens"
            required
            min={0}
            decimalScale={12}
            {...form.getInputProps('output_usd_per_mtok')}
          />
        </Group>
        <DateTimeInput
          label="From"
          description="For events whose time is this or later"
          required
          value={values.effective_from}
          onChange={(iso) => form.setFieldValue('effective_from', iso)}
          error={form.errors.effective_from}
        />
        <DateTimeInput
          label="Until"
          description="Or until the next price of this model and platform begins, if that is sooner"
          placeholder="No end"
          value={values.effective_until}
          onChange={(iso) => form.setFieldValue('effective_until', iso)}
          error={form.errors.effective_until}
        />
        {failure !== undefined && <PriceProblem error={failure} title="The price was not saved" />}
        <FormButtons isDirty={() => form.isDirty()} submit="Save price" onCancel={onClose} busy={busy} />
      </Stack>
    </form>
  )
}
