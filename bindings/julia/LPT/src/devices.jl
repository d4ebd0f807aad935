"UTF-8 that ends with a zero."
text_of(letters::NTuple{N,UInt8}) where {N} = String(UInt8[letter for letter in Iterators.takewhile(!=(0x00), letters)])

"What a device is: an lpt_device_info, and `name` and `reason` as strings. One that is not there is no error: `is_usable` is 0."
function describe(device::Integer, index::Integer = 0)
    description = with(Lib.lpt_device_info)
    status = Lib.lpt_device_describe(C_NULL, device, index, description)
    status == Lib.LPT_OK || throw(LPTError(status, "device is $device, index $index: expected a device"))
    found = description[]
    (device = found.device, index = found.index, count = found.count, is_usable = found.is_usable != 0,
     capability = (found.capability_major, found.capability_minor), processor_count = found.processor_count,
     memory_bytes = found.memory_bytes, name = text_of(found.name), reason = text_of(found.reason))
end

"Waits until a GPU has done all that is queued. For the processor nothing ever is."
synchronize(context::Context) = check(context, Lib.lpt_context_synchronize(context))

"Copies a tensor with all its parts, from one memory to another too, and waits for it."
function tensor_copy!(context::Context, target::Tensor, source::Tensor)
    check(context, Lib.lpt_tensor_copy(context, source, target))
    synchronize(context)
    target
end
