# Additions of the Julia layer to lpt.h: layouts, errors, column-major matrices, finalizers. LPT_ABI_TABLE names
# tests/abi/lpt_abi.txt.
using LPT
using LPT.Lib
using Test

error_of(call) =
    try
        call()
        "no error"
    catch error
        error isa LPTError || rethrow()
        sprint(showerror, error)
    end

@testset "LPT" begin

@testset "structs are laid out as in C" begin
    table = get(ENV, "LPT_ABI_TABLE", joinpath(@__DIR__, "../../../../tests/abi/lpt_abi.txt"))
    structs = 0
    for words in split.(readlines(table), ' ')
        if words[1] == "struct"
            structs += 1
            @test sizeof(getfield(Lib, Symbol(words[2]))) == parse(Int, words[3])
        elseif words[1] == "member"
            type, member = Symbol.(split(words[2], '.'))
            place = findfirst(==(member), fieldnames(getfield(Lib, type)))
            @test fieldoffset(getfield(Lib, type), place) == parse(Int, words[3])
        end
    end
    @test structs > 40
end

@testset "errors have status and text" begin
    @test startswith(error_of(() -> Context(thread_count = -1)), "invalid argument: thread_count is -1")
    @test error_of(() -> format_from_name("e9m9")) == "invalid argument: name is 'e9m9': expected a format"
    @test format_name(format_from_name("mxfp8_e4m3")) == "mxfp8_e4m3"
    context = Context()
    @test error_of(() -> gemm!(context, zeros(Float32, 2, 2), zeros(Float32, 2, 2), zeros(Float32, 2, 2); alfa = 2)) ==
          "invalid argument: alfa is not a member of lpt_gemm_options"
    @test error_of(() -> Tensor(context, view(zeros(Float32, 4, 4), 1:2:4, :))) ==
          "invalid argument: stride(x, 1) is 2: expected 1"
end

@testset "GEMM of matrices of Julia, and of views of their columns" begin
    context = Context()
    a, b = Float32[i - 2j for i in 1:5, j in 1:7], Float32[i * j % 5 for i in 1:7, j in 1:9]
    c = zeros(Float32, 5, 9)
    @test gemm!(context, c, a, b) === c
    @test c == a * b
    wide = fill(9f0, 8, 12)
    gemm!(context, view(wide, 2:6, 3:11), a, b; alpha = 2)
    @test wide[2:6, 3:11] == 2 * (a * b)
    @test all(==(9f0), wide[[1, 7, 8], :]) && all(==(9f0), wide[:, [1, 2, 12]])
end

@testset "tensors and their parts keep the array alive" begin
    context = Context()
    parts = map(1:200) do i
        whole = Tensor(context, fill(Float32(i), 8, 8))
        one = part(context, whole, LPT_TENSOR_PART_PAYLOAD)
        close(whole)
        one
    end
    GC.gc()
    [fill(-1f0, 8, 8) for _ in 1:2000]
    GC.gc()
    @test all(all(==(Float32(i)), reinterpret(Float32, bytes(context, one))) for (i, one) in enumerate(parts))
end

@testset "collectives of one rank" begin
    context, x = Context(), Float32[1 2; 3 4]
    comm = Comm(context, CommGroup(1), 0)
    LPT.barrier(context, comm)
    LPT.broadcast!(context, comm, 0, Tensor(context, x))
    all_reduce!(context, comm, Tensor(context, x); factor = 2)
    @test x == Float32[2 4; 6 8]
    @test startswith(error_of(() -> LPT.broadcast!(context, comm, 1, Tensor(context, x))), "invalid argument: root is 1")
end

function cast(context)
    source, fp8 = Tensor(context, fill(1.5f0, 8, 8)), Tensor(context, LPT_FORMAT_E4M3FN, 8, 8)
    quantize!(context, fp8, source)
    bytes(context, fp8)
end

@testset "logs receive lines, and their exceptions are thrown" begin
    context, lines = Context(), String[]
    set_log!((level, text) -> push!(lines, text), context, LPT_LOG_LEVEL_DISPATCH)
    GC.gc()
    cast(context)
    @test !isempty(lines) && all(!isempty, lines)
    set_log!((level, text) -> error("no paper"), context, LPT_LOG_LEVEL_DISPATCH)
    @test_throws ErrorException("no paper") cast(context)
    set_log!(nothing, context)
    received = length(lines)
    @test all(==(0x3c), cast(context))
    @test length(lines) == received
end

@testset "progress is reported and cancels a call" begin
    context, most = Context(), Ref(0)
    set_progress!((done, total) -> (most[] = max(most[], done); false), context)
    cast(context)
    @test most[] == 64
    set_progress!((done, total) -> true, context)
    @test startswith(error_of(() -> cast(context)), "cancelled")
    set_progress!((done, total) -> error("tea"), context)
    @test_throws ErrorException("tea") cast(context)
    set_progress!(nothing, context)
    @test length(cast(context)) == 64
end

# Encodes the upper half of each float.
function halves(; failing = nothing, calls = Ref(0))
    may_fail(name) = name == failing && error("dice")
    Codec("halves";
        bytes_for = count -> (calls[] += 1; may_fail(:bytes_for); 2count),
        encode = (bytes, numbers) -> (may_fail(:encode);
            copyto!(reinterpret(UInt16, bytes), UInt16.(reinterpret(UInt32, numbers) .>> 16))),
        decode = (numbers, bytes) -> (may_fail(:decode);
            copyto!(reinterpret(UInt32, numbers), UInt32.(reinterpret(UInt16, bytes)[1:length(numbers)]) .<< 16)))
end

@testset "messages are encoded by a codec" begin
    context, calls = Context(thread_count = 1), Ref(0)
    codec = halves(calls = calls)
    comm, x = Comm(context, CommGroup(1), 0), Float32[i + j / 1000 for i in 1:20, j in 1:30]
    upper_half(number) = reinterpret(Float32, reinterpret(UInt32, number) & 0xffff0000)
    expected = upper_half.(x)
    all_reduce!(context, comm, Tensor(context, x); codec = codec)
    @test x == expected
    whole = zeros(Float32, 20, 30)
    all_gather!(context, comm, Tensor(context, whole), Tensor(context, x); codec = codec)
    @test whole == expected
    @test calls[] == 1 # one call for each count
    @test startswith(error_of(() -> all_gather!(context, comm, Tensor(context, whole), Tensor(context, x); counts = [1, 2])),
                     "invalid argument: counts has 2 elements: expected one for each rank, 1")
    for failing in (:bytes_for, :encode, :decode)
        own = Comm(context, CommGroup(1), 0)
        @test_throws ErrorException("dice") all_reduce!(context, own, Tensor(context, x); codec = halves(failing = failing))
        @test x == expected
    end
    many = Context(thread_count = 2)
    @test error_of(() -> all_reduce!(many, comm, Tensor(many, x); codec = codec)) ==
          "unsupported: thread_count is 2: expected 1 with a codec"
    @test error_of(() -> Codec("name of 16 bytes"; bytes_for = 1, encode = 1, decode = 1)) ==
          "invalid argument: name is \"name of 16 bytes\": expected 1 to 12 bytes of ASCII"
end

@testset "devices are described" begin
    cpu, absent = LPT.describe(LPT_DEVICE_CPU), LPT.describe(LPT_DEVICE_CUDA, 1000)
    @test cpu.is_usable && isempty(cpu.reason) && !isempty(cpu.name)
    @test !absent.is_usable && !isempty(absent.reason)
    @test error_of(() -> LPT.describe(77)) == "invalid argument: device is 77, index 0: expected a device"
    context, x, y = Context(), Float32[1 2; 3 4], zeros(Float32, 2, 2)
    tensor_copy!(context, Tensor(context, y), Tensor(context, x))
    @test x == y
end

@testset "gradients are reduced in buckets" begin
    context, numbers = Context(), [fill(Float32(i), i, i) for i in 1:3]
    comm = Comm(context, CommGroup(1), 0)
    buckets = GradientBuckets(context, comm, [Tensor(context, one) for one in numbers]; bucket_bytes = 16)
    begin!(context, buckets; factor = 2)
    GC.gc()
    ready!(context, buckets, 2)
    @test occursin("gradients[0], gradients[1] of 3", error_of(() -> wait(context, buckets)))
    ready!(context, buckets, 0)
    ready!(context, buckets, 1)
    wait(context, buckets)
    @test all(all(==(2f0 * i), numbers[i]) for i in 1:3)
    @test LPT.values_of(context, buckets).ready_count == 3
    @test isempty(LPT._passes)
end

@testset "shards step like the full parameter" begin
    context = Context()
    comm, kind = Comm(context, CommGroup(1), 0), (elements = 512, first_moment = LPT_FORMAT_E4M3FN_1X128, weight_decay = 0.1)
    slopes = Float32[i % 7 - 3 for i in 1:512]
    alone, expected = Optimizer(context), Float32[i % 5 for i in 1:512]
    add!(context, alone, 512; kind...)
    step!(context, alone, [0], [Tensor(context, slopes)], [Tensor(context, expected)])
    shared, numbers = Optimizer(context), Float32[i % 5 for i in 1:512]
    @test add_shards!(context, shared, comm, [kind]) == [0]
    step_shards!(context, shared, comm, [0], [Tensor(context, slopes / 2)], [Tensor(context, numbers)];
                 reduce = (factor = 2,))
    @test numbers == expected
    whole = Optimizer(context)
    add!(context, whole, 512; kind...)
    state = state_save(context, shared, 0)
    state_load_many!(context, whole, 0, [state])
    @test state_save(context, whole, 0) == state_save(context, alone, 0)
    @test startswith(error_of(() -> state_load_many!(context, whole, 0, [state, state])), "invalid state")
end

@testset "sequences are gathered and scattered" begin
    context, x, all = Context(), Float32[i + 4j for i in 1:4, j in 1:3], zeros(Float32, 4, 3)
    comm = Comm(context, CommGroup(1), 0)
    sequence_gather!(context, comm, Tensor(context, all), Tensor(context, x); row_counts = [3])
    @test all == x
    back = zeros(Float32, 4, 3)
    sequence_scatter!(context, comm, LPT_PARTIAL_PASS_BACKWARD, Tensor(context, back), Tensor(context, all))
    @test back == x
    plan = PartialPlan(context; hidden_columns = 4, shared_columns = 2, rank_count = 1, private_scale = LPT_PARTIAL_SCALE_CUSTOM,
                       custom_scale = 3)
    partial_all_reduce!(context, comm, plan, LPT_PARTIAL_PASS_FORWARD, Tensor(context, back))
    @test back == x .* Float32[1, 1, 3, 3]
    @test startswith(error_of(() -> sequence_gather!(context, comm, Tensor(context, all), Tensor(context, x); plan = plan)),
                     "unsupported")
end

@testset "finalizers destroy handles in any order" begin
    for _ in 1:300
        context = Context(thread_count = 1)
        Tensor(context, LPT_FORMAT_NVFP4, 16, 64)
        Linear(context, Recipe(context, "mxfp8"), 32, 32)
    end
    GC.gc()
    @test LPT.abi_level() == 1
end

end
