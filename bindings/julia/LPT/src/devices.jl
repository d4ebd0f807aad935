"Convert zero-terminated UTF-8 to a string."
text_of(bytes::NTuple{N,UInt8}) where {N} = String(UInt8[byte for byte in Iterators.takewhile(!=(0x00), bytes)])

"""
    describe(device, index = 0)

Return the members of lpt_device_info as a named tuple. A missing device is not an error: `is_usable` is false, and `reason`
contains the reason.
"""
function describe(device::Integer, index::Integer = 0)
    description = with(Lib.lpt_device_info)
    status = Lib.lpt_device_describe(C_NULL, device, index, description)
    status == Lib.LPT_OK || throw(LPTError(status, "device is $device, index $index: expected a device"))
    found = description[]
    (device = found.device, index = found.index, count = found.count, is_usable = found.is_usable != 0,
     capability = (found.capability_major, found.capability_minor), processor_count = found.processor_count,
     memory_bytes = found.memory_bytes, name = text_of(found.name), reason = text_of(found.reason))
end

"Wait until all work that is queued on a GPU is complete; on a CPU context, return immediately."
synchronize(context::Context) = check(context, Lib.lpt_context_synchronize(context))

"Copy a tensor with all its parts between devices or within one; complete on return."
function tensor_copy!(context::Context, target::Tensor, source::Tensor)
    check(context, Lib.lpt_tensor_copy(context, source, target))
    synchronize(context)
    target
end
